/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_setting.h - what NCCL will find when it looks up one of its variables: in the
 * environment, or in its files (common/ncclog/nccl_conf.h) */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_SETTING_H
#define RINGBENCH_WORKER_NCCL_NCCL_SETTING_H

#include <stddef.h>

/* The value, in the environment or copied to `value`; NULL: nowhere. */
const char *nccl_setting(const char *name, char *value, size_t size);

/* If nobody chose what NCCL logs, have it log how it connects, which it does once and
 * never per call; the agent reads it. Before NCCL is used, and while no other thread
 * reads the environment. Not 0: memory is out. */
int nccl_setting_log(void);

/* The same of another: where nobody chose it, it is this. */
int nccl_setting_offer(const char *name, const char *value);

#endif
