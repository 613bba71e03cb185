/* SPDX-License-Identifier: Apache-2.0 */
/* case_input.h - builds a worker's environment and the path of its case file */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_INPUT_H
#define RINGBENCH_AGENT_PROCESS_CASE_INPUT_H

#include "agent/config/env_list.h"
#include "agent/link/command.h"
#include "common/base/error.h"
#include "common/base/options.h"

#define CASE_FILE_PREFIX "case-"
#define CASE_PATH_MAX 4096

/* Check that the run may set these variables on this node. On failure returns -1 with an
 * error that names the first variable that is not allowed. */
int case_input_check_env(json_t *env, const struct option_list *consented,
                         struct error *err);

int case_input_path(const struct command *command, const char *dir,
                    char path[CASE_PATH_MAX], struct error *err);

void case_input_set_env(struct env_list *list, const struct command *command,
                        const char *path);

/* Set the libnccl that the case requests, which must be in the node's list. */
int case_input_set_library(struct env_list *list, const struct command *command,
                           const struct option_list *libraries, struct error *err);

/* null means unset. `cpus`: the rank's CPUs, or NULL. */
json_t *case_input_rank_env(const struct command_rank *rank, const char *cpus);

#endif
