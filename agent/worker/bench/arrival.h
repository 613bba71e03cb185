/* SPDX-License-Identifier: Apache-2.0 */
/* arrival.h - compute how late each rank arrives at calls that follow a barrier, from
 * unsynchronized clocks
 *
 * No rank leaves a barrier before all ranks have entered it. Each barrier therefore
 * bounds the offset between two clocks: A's entry minus B's exit is the lower bound, and
 * A's exit minus B's entry the upper. The intersection of several barriers' intervals
 * contains the offset (Marzullo and Owicki, "Maintaining the time in a distributed
 * system", ACM Operating Systems Review 19(3), 1985). The estimate is its midpoint, and
 * the error half its width, as in Cristian, "Probabilistic clock synchronization",
 * Distributed Computing 3, 1989. */
#ifndef RINGBENCH_WORKER_BENCH_ARRIVAL_H
#define RINGBENCH_WORKER_BENCH_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

#define ARRIVALS_MAX 32 /* number of calls recorded per row, starting with the first */

/* In nanoseconds of the rank's own clock. */
struct arrival {
    int64_t in_ns, out_ns; /* entered and left the barrier */
    int64_t came_ns;       /* time just before the call */
};

/* Ranks exchange this struct. */
struct arrivals {
    uint64_t clock; /* hash of the host's identity: equal if ranks read the same clock */
    int64_t n;
    struct arrival of[ARRIVALS_MAX];
};

/* Initialize *arrivals without records and with this process's clock. */
void arrivals_init(struct arrivals *arrivals);

/* Calls after the first ARRIVALS_MAX are ignored. */
void arrivals_add(struct arrivals *arrivals, struct arrival arrival);

size_t arrivals_bytes(int64_t n);

/* late_us[rank]: the median over the calls of the rank's arrival minus the median rank's
 * arrival. If a rank left the barrier later than the first rank of its host, the
 * difference is subtracted from its arrival. With an even number of ranks, the median
 * rank is the earlier of the middle two. error_us: the uncertainty from the clock
 * offsets. Requires n >= 1, and the same nonzero number of records for each rank. */
void arrivals_late_us(const struct arrivals *ranks, int n, double *late_us,
                      double *error_us);

/* The time between the first and the last rank's exit from a barrier, as the median over
 * the recorded barriers. Arguments as above. */
double arrivals_skew_us(const struct arrivals *ranks, int n);

#endif
