/* triad.h - what the ranks of a case get out of their host's memory, all at once: the
 * triad a = b + s c of STREAM (McCalpin, IEEE TCCA Newsletter, December 1995) */
#ifndef RINGBENCH_WORKER_BENCH_TRIAD_H
#define RINGBENCH_WORKER_BENCH_TRIAD_H

#include <stddef.h>
#include <stdint.h>

#include "agent/worker/bench/backend.h"

#define TRIAD_CACHES 4 /* an array is so many times the caches, by STREAM's rules */

/* A rank's part in it. `ranks` is of the case. */
struct triad {
    const struct backend *backend;
    struct backend_comm *comm;
    int ranks;
    void *to, *from;      /* bytes each, aligned to 64: overwritten */
    size_t bytes;         /* what each may use; half of it is an array */
    uint64_t cache_bytes; /* of the CPUs of all ranks; triad_look() */
};

/* How large the caches are of the CPUs that any rank may use; 0: unknown. Of all ranks.
 */
int triad_look(struct triad *triad, struct error *err);

/* GB/s (1e9 bytes) of all ranks together, the best of some passes; of all ranks, and the
 * same on each. A pass is between barriers; they take some tens of milliseconds. */
int triad_measure(const struct triad *triad, double *gbs, struct error *err);

#endif
