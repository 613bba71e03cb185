/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_profiler.h - record NCCL's algorithm for a call, from its profiler interface
 *
 * This program is itself the plugin (2.23 on): NCCL finds ncclProfiler_v1 to _v5 in it.
 * Events are enabled around single calls only. At other times NCCL only tests a flag.
 * Source: NCCL 2.23 to 2.30, src/include/plugin/profiler and src/misc/profiler.cc. NCCL
 * uses one plugin per process, so the functions take no object. Call all functions from
 * the thread that makes the NCCL calls. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_PROFILER_H
#define RINGBENCH_WORKER_NCCL_NCCL_PROFILER_H

#include "agent/worker/bench/choice.h"

/* The symbol that NCCL looks up: five functions and a name. */
typedef void nccl_profiler_fn(void);
struct nccl_profiler {
    const char *name;
    nccl_profiler_fn *init; /* arguments differ by version */
    int (*start)(void *context, void **handle, const void *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *args);
    int (*finalize)(void *context);
};
extern const struct nccl_profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5;

void nccl_profiler_watch(void);
/* Disable events. *out stays unchanged if NCCL reported no choice. */
void nccl_profiler_finish(struct choice *out);

/* The name of NCCL's number: "TREE" for 0; "" for an unknown number. */
const char *nccl_algorithm(unsigned number);
const char *nccl_protocol(unsigned number);

#endif
