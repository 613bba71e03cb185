/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_log.h - finds the transports used by a job from NCCL's log in its output */
#ifndef RINGBENCH_SERVER_IMPORT_NCCL_LOG_H
#define RINGBENCH_SERVER_IMPORT_NCCL_LOG_H

#include <jansson.h>
#include <stddef.h>

/* Return the result of transport_fold() for all processes in the log. If there are
 * several jobs, each has separate verdicts and an entry in "jobs"
 * (docs/reference/api.md). Reports of PyTorch's watchdog about ranks add verdicts. Lines
 * of ibdev2netdev describe the ports of rank 0's node. NULL if the file contains no line
 * of NCCL's log or the watchdog. */
json_t *nccl_log_read(const char *text, size_t len);

#endif
