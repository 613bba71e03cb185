/* SPDX-License-Identifier: Apache-2.0 */
/* case_document.h - a case as ringbench-case gets it (agent/case/launch.h) */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_DOCUMENT_H
#define RINGBENCH_AGENT_PROCESS_CASE_DOCUMENT_H

#include <jansson.h>

#include "agent/bind/plan.h"
#include "agent/process/case_input.h"
#include "agent/process/supervisor.h"

/* Check what the command asks for against what this node allows, and put the document
 * together, without `conditions`. base: what all workers inherit. The case file's path
 * goes to `path`. NULL with the reason. */
json_t *case_document(const struct supervisor_params *params, const struct env_list *base,
                      const struct command *command, const struct bind_plan *plan,
                      char path[CASE_PATH_MAX], struct error *err);

/* Remove the case file and all files beside it that have its name and more. */
void case_document_remove_files(const char *path);

#endif
