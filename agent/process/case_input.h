/* SPDX-License-Identifier: Apache-2.0 */
/* case_input.h - what a worker is given: its environment, and where its case file is */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_INPUT_H
#define RINGBENCH_AGENT_PROCESS_CASE_INPUT_H

#include "agent/config/env_list.h"
#include "agent/link/command.h"
#include "common/base/error.h"
#include "common/base/options.h"

#define CASE_FILE_PREFIX "case-"
#define CASE_PATH_MAX 4096

/* Whether this node lets the run set these variables; -1 with the first that it does not.
 */
int case_input_check_env(json_t *env, const struct option_list *consented,
                         struct error *err);

/* Where the case file of a start command is, in dir. */
int case_input_path(const struct command *command, const char *dir,
                    char path[CASE_PATH_MAX], struct error *err);

/* Add the case's variables and those that all its workers share to an environment. */
void case_input_set_env(struct env_list *list, const struct command *command,
                        const char *path);

/* The libnccl that the case names, if it is one of the node's list. */
int case_input_set_library(struct env_list *list, const struct command *command,
                           const struct option_list *libraries, struct error *err);

/* The variables of one rank, null for those that it must not have. cpus: those that it
 * is bound to, or NULL. */
json_t *case_input_rank_env(const struct command_rank *rank, const char *cpus);

#endif
