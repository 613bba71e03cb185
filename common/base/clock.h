/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - reads wall time for display, and monotonic time for deadlines and
 * measurements */
#ifndef RINGBENCH_COMMON_BASE_CLOCK_H
#define RINGBENCH_COMMON_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_TEXT_MAX 32

/* Return the wall time in milliseconds since 1970-01-01T00:00:00Z. */
int64_t clock_wall_ms(void);

/* Return nanoseconds of CLOCK_MONOTONIC. */
int64_t clock_monotonic_ns(void);

/* The same moment on both clocks. */
struct clock_time {
    int64_t wall_ms, monotonic_ns;
};

/* A source of time that tests and replays can replace. */
struct clock {
    struct clock_time (*read)(void *arg);
    void *arg;
};

/* Read the clock; NULL reads the system's clocks. */
struct clock_time clock_read(const struct clock *clock);

/* Format a time as RFC 3339 in UTC with milliseconds, such as "2026-01-31T23:59:59.123Z",
 * and return `text`. The time is clamped to the years 1970 to 9999. */
const char *clock_format_ms(int64_t wall_ms, char text[CLOCK_TEXT_MAX]);

/* Parse the format of clock_format_ms(). Return 0 for NULL or an invalid time. */
int64_t clock_parse_ms(const char *text);

#endif
