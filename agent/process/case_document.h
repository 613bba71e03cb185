/* SPDX-License-Identifier: Apache-2.0 */
/* case_document.h - builds the document that starts a case in ringbench-case
 * (agent/case/launch.h) */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_DOCUMENT_H
#define RINGBENCH_AGENT_PROCESS_CASE_DOCUMENT_H

#include <jansson.h>

#include "agent/bind/plan.h"
#include "agent/process/case_input.h"
#include "agent/process/supervisor.h"

/* Check the command against this node's configuration and build the document, without
 * `conditions`. `base` is the environment of all workers. Stores the case file's path in
 * `path`. Returns NULL with the reason on failure. */
json_t *case_document(const struct supervisor_params *params, const struct env_list *base,
                      const struct command *command, const struct bind_plan *plan,
                      char path[CASE_PATH_MAX], struct error *err);

/* Also removes files whose names start with the case file's name. */
void case_document_remove_files(const char *path);

#endif
