/* case_files.h - files beside a case's own: those that its run brings for NCCL, and what
 * NCCL writes of the node's topology */
#ifndef RINGBENCH_AGENT_PROCESS_CASE_FILES_H
#define RINGBENCH_AGENT_PROCESS_CASE_FILES_H

#include "agent/config/env_list.h"
#include "agent/link/command.h"
#include "agent/link/outbox.h"
#include "common/base/error.h"

/* The files that the command brings, beside `path`, the case file's, and the variables
 * that name them and those that NCCL is to write. A failed call may leave files. */
int case_files_prepare(struct env_list *list, const struct command *command,
                       const char *path, struct error *err);

/* Send what NCCL has written, an event `artifact` each. "" is the path of no case. */
void case_files_send(struct outbox *outbox, const struct case_id *id, const char *path);

/* Remove them, and the case file. */
void case_files_remove(const char *path);

#endif
