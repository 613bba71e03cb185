/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_profiler.h - which algorithm NCCL takes for a call, by its profiler interface
 *
 * This program is itself the plugin (2.23 on): NCCL looks ncclProfiler_v1 to _v5 up in
 * it. Events are asked for around single calls only; at other times NCCL tests a flag.
 * Made by reading NCCL 2.23 to 2.30, src/include/plugin/profiler and
 * src/misc/profiler.cc. The interface has one plugin per process, so this has no object.
 * All functions are for the thread that makes the calls. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_PROFILER_H
#define RINGBENCH_WORKER_NCCL_NCCL_PROFILER_H

#include "agent/worker/bench/choice.h"

/* What NCCL finds: five functions and a name. */
typedef void nccl_profiler_fn(void);
struct nccl_profiler {
    const char *name;
    nccl_profiler_fn *init; /* its arguments are each version's own */
    int (*start)(void *context, void **handle, const void *event);
    int (*stop)(void *handle);
    int (*record)(void *handle, int state, void *args);
    int (*finalize)(void *context);
};
extern const struct nccl_profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5;

void nccl_profiler_watch(void);
/* What the calls since then were; out stays as it is where NCCL told nothing. */
void nccl_profiler_take(struct choice *out);

/* "TREE" of 0 and so on, as NCCL counts them; "" of one that is not known. */
const char *nccl_algorithm(unsigned number);
const char *nccl_protocol(unsigned number);

#endif
