/* SPDX-License-Identifier: Apache-2.0 */
/* calendar.h - when a watch is due. Pure: all times are milliseconds since 1970 that the
 * caller gives; times of day are UTC. */
#ifndef RINGBENCH_SERVER_WATCHES_CALENDAR_H
#define RINGBENCH_SERVER_WATCHES_CALENDAR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"

#define CALENDAR_TIMES_MAX 24
#define CALENDAR_DAY_MS INT64_C(86400000)

struct calendar {
    int64_t period_ms;                    /* 0: at `times` */
    int64_t anchor_ms;                    /* with a period: one of the due times */
    int64_t times_ms[CALENDAR_TIMES_MAX]; /* of the day, ascending */
    size_t n_times;
    int64_t from_ms, until_ms; /* the window, of the day; until may be on the next day */
};

/* "24h" (s, m, h or d), or an array of times of day, "02:00". Add what is wrong at
 * `pointer`. */
void calendar_read_every(struct calendar *calendar, const json_t *every,
                         const char *pointer, struct problems *problems);

/* {"from": "22:00", "until": "06:00"}, or NULL: always. */
void calendar_read_window(struct calendar *calendar, json_t *window, const char *pointer,
                          struct problems *problems);

/* Whether runs may start. */
bool calendar_is_open(const struct calendar *calendar, int64_t now_ms);

/* The first due time after `after_ms`. One outside the window moves to its beginning. */
int64_t calendar_next(const struct calendar *calendar, int64_t after_ms);

/* How many due times there are after `after_ms` and not after `until_ms`, at most `most`.
 */
size_t calendar_count(const struct calendar *calendar, int64_t after_ms, int64_t until_ms,
                      size_t most);

/* The usual time from one due time to the next; with times of day a day. */
int64_t calendar_horizon_ms(const struct calendar *calendar);

#endif
