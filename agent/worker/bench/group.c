/* group.c - whom a rank forms its communicator with */
#include "agent/worker/bench/group.h"

#include <stdlib.h>

int group_find(const struct case_file *file, struct backend_env *env, int **members,
               struct error *err)
{
    const struct split_groups *groups = &file->groups;

    *members = NULL;
    env->n_groups = groups->n;
    if (!backend_env_is_split(env))
        return 0;
    env->group = groups->of[env->rank];
    env->place = groups->place[env->rank];
    env->group_size = groups->sizes[env->group];
    *members = calloc((size_t)env->group_size, sizeof(**members));
    if (!*members)
        return error_set(err, ERROR_MEMORY, "communicator: out of memory");
    for (int rank = 0; rank < groups->n_ranks; rank++)
        if (groups->of[rank] == env->group)
            (*members)[groups->place[rank]] = rank;
    env->members = *members;
    return 0;
}
