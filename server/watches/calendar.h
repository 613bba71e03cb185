/* SPDX-License-Identifier: Apache-2.0 */
/* calendar.h - computes when a watch is due, without reading a clock. The caller passes
 * times in milliseconds since 1970. Times of day are UTC. */
#ifndef RINGBENCH_SERVER_WATCHES_CALENDAR_H
#define RINGBENCH_SERVER_WATCHES_CALENDAR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"

#define CALENDAR_TIMES_MAX 24
#define CALENDAR_COUNT_MAX 1000
#define CALENDAR_DAY_MS INT64_C(86400000)

struct calendar {
    int64_t period_ms; /* interval between due times; a day if times of day are set */
    int64_t anchor_ms; /* one of the due times of a calendar with a period */
    int64_t times_ms[CALENDAR_TIMES_MAX]; /* due times since midnight */
    size_t n_times;                       /* 0: the calendar uses a period */
    int64_t from_ms,
        until_ms; /* the window, in time since midnight; may end on the next day */
};

/* Set all members except anchor_ms. every: "24h" (s, m, h or d), or an array of times of
 * day, "02:00". window: {"from": "22:00", "until": "06:00"}, or NULL: always open.
 * Problems are added with the pointers "/every" and "/window". */
void calendar_read(struct calendar *calendar, const json_t *every, json_t *window,
                   struct problems *problems);

/* Return true if the window is open. */
bool calendar_is_open(const struct calendar *calendar, int64_t now_ms);

/* Return the first due time after `after_ms`. A due time outside the window moves to the
 * window's next opening. */
int64_t calendar_next(const struct calendar *calendar, int64_t after_ms);

/* Return the number of due times in (after_ms, until_ms], at most CALENDAR_COUNT_MAX. */
size_t calendar_count(const struct calendar *calendar, int64_t after_ms,
                      int64_t until_ms);

#endif
