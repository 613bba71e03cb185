/* SPDX-License-Identifier: Apache-2.0 */
/* case_input.c - builds a worker's environment and the path of its case file */
#include "agent/process/case_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/env_policy.h"
#include "common/base/json_util.h"

static bool has_consent(const struct option_list *consented, const char *name)
{
    for (size_t i = 0; i < consented->count; i++)
        if (strcmp(consented->items[i], name) == 0)
            return true;
    return false;
}

int case_input_check_env(json_t *env, const struct option_list *consented,
                         struct error *err)
{
    const char *name, *reason;
    json_t *value;

    json_object_foreach (env, name, value) {
        switch (env_policy_check(name, &reason)) {
        case ENV_POLICY_ALLOW:
            break;
        case ENV_POLICY_REFUSE:
            return error_set(err, ERROR_INVALID, "env: %.128s %s", name, reason);
        case ENV_POLICY_CONSENT:
            if (!has_consent(consented, name))
                return error_set(err, ERROR_INVALID,
                                 "env: %s %s and needs this node's consent: add the name "
                                 "as a line to allow_env in its agent's config directory",
                                 name, reason);
            break;
        }
    }
    return 0;
}

int case_input_path(const struct command *command, const char *dir,
                    char path[CASE_PATH_MAX], struct error *err)
{
    int n = snprintf(path, CASE_PATH_MAX,
                     "%s/" CASE_FILE_PREFIX "%s-%" PRId64 "-%" PRId64 ".json", dir,
                     command->id.run, command->id.number, command->id.attempt);

    return n < CASE_PATH_MAX
               ? 0
               : error_set(err, ERROR_LIMIT,
                           "the path of the case file in %.60s... is too long", dir);
}

void case_input_set_env(struct env_list *list, const struct command *command,
                        const char *path)
{
    env_list_apply(list, command->env);
    env_list_set_int(list, "WORLD_SIZE", command->world_size);
    env_list_set_int(list, "LOCAL_WORLD_SIZE", (long)command->n_ranks);
    env_list_set_int(list, "GROUP_RANK", command->group_rank);
    env_list_set_int(list, "GROUP_WORLD_SIZE", command->group_world_size);
    env_list_set(list, "MASTER_ADDR", command->master_addr);
    env_list_set_int(list, "MASTER_PORT", command->master_port);
    env_list_set(list, "TORCHELASTIC_USE_AGENT_STORE", "True");
    env_list_set(list, "TORCHELASTIC_RESTART_COUNT", "0");
    env_list_set(list, "TORCHELASTIC_MAX_RESTARTS", "0");
    env_list_set(list, "RINGBENCH_CASE", path);
}

int case_input_set_library(struct env_list *list, const struct command *command,
                           const struct option_list *libraries, struct error *err)
{
    const char *path = json_get_str(command->spec, "nccl_lib", NULL);

    if (!path)
        return 0;
    for (size_t i = 0; i < libraries->count; i++) {
        if (strcmp(libraries->items[i], path) != 0)
            continue;
        env_list_set(list, "RINGBENCH_NCCL_LIB", path);
        return 0;
    }
    return error_set(err, ERROR_INVALID,
                     "nccl_lib: this node's agent does not offer %.300s (--nccl-libs)",
                     path);
}

static json_t *number_text(long number)
{
    char text[32];

    snprintf(text, sizeof(text), "%ld", number);
    return json_string(text);
}

json_t *case_input_rank_env(const struct command_rank *rank, const char *cpus)
{
    json_t *env =
        json_pack("{s:o, s:o, s:s?}", "RANK", number_text(rank->rank), "LOCAL_RANK",
                  number_text(rank->local_rank), "RINGBENCH_CPUS", cpus);

    if (rank->device >= 0)
        json_object_set_new(env, "RINGBENCH_DEVICE", number_text(rank->device));
    return env;
}
