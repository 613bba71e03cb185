/* SPDX-License-Identifier: Apache-2.0 */
/* arrival.h - how late each rank comes to calls behind a barrier, each by its own clock
 *
 * Nobody leaves a barrier before all have come to it, so one says between which limits
 * two clocks are apart: what one showed on the way in less what the other showed on the
 * way out, and the other way round. What the limits of several have in common holds the
 * offset (Marzullo and Owicki, "Maintaining the time in a distributed system", ACM
 * Operating Systems Review 19(3), 1985); its middle is taken and half of it is the error,
 * as half of the least round trip is of a clock that is asked (Cristian, "Probabilistic
 * clock synchronization", Distributed Computing 3, 1989). */
#ifndef RINGBENCH_WORKER_BENCH_ARRIVAL_H
#define RINGBENCH_WORKER_BENCH_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

#define ARRIVALS_MAX 32 /* of a row: its first calls */

/* Of one rank at one call, on its own clock. */
struct arrival {
    int64_t in_ns, out_ns; /* before the barrier and behind it */
    int64_t came_ns;       /* about to call */
};

/* Of one rank, as they are exchanged. */
struct arrivals {
    uint64_t clock; /* which one: ranks that share memory have it in common */
    int64_t n;
    struct arrival of[ARRIVALS_MAX];
};

/* None so far, on this process's clock. */
void arrivals_init(struct arrivals *arrivals);

/* One more, or nothing when there are enough. */
void arrivals_add(struct arrivals *arrivals, struct arrival arrival);

/* The bytes of a record with the first n. */
size_t arrivals_bytes(int64_t n);

/* By rank: how long after the middle one (of an even number the earlier of both) it came,
 * had all of its machine left the barrier with the first of them; the median over the
 * calls; all ranks have as many, one at least. error_us: how far
 * clocks may be off in that. ranks: n >= 1. */
void arrivals_late_us(const struct arrivals *ranks, int n, double *late_us,
                      double *error_us);

/* How long the last rank left a barrier after the first; the median over the barriers of
 * which there are records. As above. */
double arrivals_skew_us(const struct arrivals *ranks, int n);

#endif
