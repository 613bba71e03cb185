/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_setting.h - read NCCL's variables as NCCL will read them, from the environment or
 * NCCL's configuration files (common/ncclog/nccl_conf.h) */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_SETTING_H
#define RINGBENCH_WORKER_NCCL_NCCL_SETTING_H

#include <stddef.h>

/* The value: a pointer into the environment, or `value` with a copy. NULL: not set. */
const char *nccl_setting(const char *name, char *value, size_t size);

/* Unless NCCL_DEBUG is set, make NCCL log how it connects, for the agent to read. NCCL
 * logs this once, never per call. Call before NCCL is used, while no other thread reads
 * the environment. Returns non-zero if out of memory. */
int nccl_setting_log(void);

/* Set a variable in the environment unless it has a value. The same conditions and return
 * value as for nccl_setting_log() apply. */
int nccl_setting_default(const char *name, const char *value);

#endif
