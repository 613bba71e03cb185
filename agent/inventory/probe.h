/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - ask every worker beside the agent what it can do here */
#ifndef RINGBENCH_AGENT_INVENTORY_PROBE_H
#define RINGBENCH_AGENT_INVENTORY_PROBE_H

#include <jansson.h>
#include <stdbool.h>
#include <uv.h>

#include "agent/config/env_list.h"
#include "agent/process/case_process.h"
#include "common/base/error.h"
#include "common/base/options.h"

struct probe;

/* From the loop: backends by name, each what its probe said, or
 * {"backend","available":false,"reason"}. Borrowed. Called once all have answered or
 * after limit_ms, and then again for each that answers later. The probe may be destroyed
 * then; is_over: it will say no more. */
typedef void (*probe_done_fn)(void *arg, json_t *backends, bool is_over);

struct probe_params {
    uv_loop_t *loop;
    struct case_table *processes;
    const char *dir;
    const struct env_list *environment;
    const struct option_list *nccl_libs; /* NULL: none */
    uint64_t limit_ms;
};

/* Run every ringbench-worker-* of dir with --probe, all at once; that of NCCL once more
 * with each of nccl_libs, which become the backend's `libraries`: {"path","version"}, or
 * {"path","reason"} why one is of no use. */
struct probe *probe_start(const struct probe_params *params, probe_done_fn on_done,
                          void *arg);

/* Kills probes that still run; on_done is not called then. NULL is fine. */
void probe_destroy(struct probe *probe);

#endif
