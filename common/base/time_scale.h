/* SPDX-License-Identifier: Apache-2.0 */
/* time_scale.h - shortens waits in the builds for tests
 *
 * Tests often wait until a lease expires, a stall is detected or an attempt is repeated.
 * The builds for tests multiply such times by CMake's RINGBENCH_TIME_SCALE, e.g. 0.25.
 * All other builds use the full times. Messages and documents always state the full time.
 *
 * Scale a time only if the program normally waits until its end: a period, a backoff, or
 * a limit that a silent or stuck process is expected to reach. Do not scale a deadline
 * for something that normally happens, such as a connection or a worker's last message,
 * because a busy machine would miss the deadline. Times above TIME_SCALE_MAX_NS, such as
 * the default lease, count as such deadlines. */
#ifndef RINGBENCH_COMMON_BASE_TIME_SCALE_H
#define RINGBENCH_COMMON_BASE_TIME_SCALE_H

#include <stdint.h>

#define TIME_SCALE_MAX_NS INT64_C(12000000000)

static inline int64_t scaled_ns(int64_t ns)
{
#ifdef RINGBENCH_TIME_SCALE
    if (ns <= TIME_SCALE_MAX_NS)
        return (int64_t)((double)ns * RINGBENCH_TIME_SCALE);
#endif
    return ns;
}

static inline int64_t scaled_s_to_ns(int64_t s)
{
    return scaled_ns(s * INT64_C(1000000000));
}

/* Like scaled_ns(), for the time of a libuv timer in milliseconds. */
static inline uint64_t scaled_ms(uint64_t ms)
{
#ifdef RINGBENCH_TIME_SCALE
    return ms <= TIME_SCALE_MAX_NS / 1000000
               ? (uint64_t)((double)ms * RINGBENCH_TIME_SCALE)
               : ms;
#else
    return ms;
#endif
}

#endif
