/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - runs every worker with --probe to find the available backends */
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

/* Called from the loop with the borrowed results by backend name. A result is the
 * worker's answer, or {"backend","available":false,"reason"}. Called when all workers
 * have answered or after limit_ms, and again for each late answer. is_over marks the last
 * call. The handler may destroy the probe. */
typedef void (*probe_done_fn)(void *arg, json_t *backends, bool is_over);

struct probe_params {
    uv_loop_t *loop;
    struct case_table *processes;
    const char *dir;
    const struct env_list *environment;
    const struct option_list *nccl_libs; /* NULL: none */
    uint64_t limit_ms;
};

/* Run every ringbench-worker-* of `dir` with --probe, all at the same time. Run NCCL's
 * worker again with each of nccl_libs. The backend's `libraries` then lists {"path",
 * "version"}, or {"path","reason"} for a library that cannot be used. */
struct probe *probe_start(const struct probe_params *params, probe_done_fn on_done,
                          void *arg);

/* Kill workers that still run. on_done is not called afterwards. Accepts NULL. */
void probe_destroy(struct probe *probe);

#endif
