/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_conf.h - NCCL's own configuration files
 * Order of precedence (NCCL 2.28, src/misc/param.cc): an environment variable, then the
 * user's file (NCCL_CONF_FILE, else ~/.nccl.conf), then /etc/nccl.conf. */
#ifndef RINGBENCH_COMMON_NCCLOG_NCCL_CONF_H
#define RINGBENCH_COMMON_NCCLOG_NCCL_CONF_H

#include <stdbool.h>
#include <stddef.h>

/* Look up a name in the files and write its value, truncated to `size`. Return false if
 * no file contains it. own and home: NCCL_CONF_FILE and HOME of the process that will use
 * NCCL; either may be NULL. */
bool nccl_conf_find(const char *own, const char *home, const char *name, char *value,
                    size_t size);

#endif
