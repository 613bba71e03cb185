/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_log.h - NCCL's own log that a job printed, read for the ways it took */
#ifndef RINGBENCH_SERVER_IMPORT_NCCL_LOG_H
#define RINGBENCH_SERVER_IMPORT_NCCL_LOG_H

#include <jansson.h>
#include <stddef.h>

/* What transport_fold makes of it, of all processes in it; with several jobs the verdicts
 * are of each by itself, and "jobs" has these, as docs/reference/api.md says. What
 * PyTorch's watchdog says of ranks is a verdict of it too. NULL when there is no line of
 * NCCL's log or the watchdog. Lines of ibdev2netdev say of ports where rank 0 is.
 */
json_t *nccl_log_read(const char *text, size_t len);

#endif
