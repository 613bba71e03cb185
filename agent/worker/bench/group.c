/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - find the ranks that share a communicator with this rank */
#include "agent/worker/bench/group.h"

#include "common/base/memory.h"

void group_find(const struct case_file *file, struct backend_env *env, int **members)
{
    const struct split_groups *groups = &file->groups;

    *members = NULL;
    env->n_groups = groups->n;
    if (!backend_env_is_split(env))
        return;
    env->group = groups->of[env->rank];
    env->place = groups->place[env->rank];
    env->group_size = groups->sizes[env->group];
    *members = memory_zeroed((size_t)env->group_size, sizeof(**members), "communicator");
    for (int rank = 0; rank < groups->n_ranks; rank++)
        if (groups->of[rank] == env->group)
            (*members)[groups->place[rank]] = rank;
    env->members = *members;
}
