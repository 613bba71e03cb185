/* SPDX-License-Identifier: Apache-2.0 */
/* calendar.c - computes when a watch is due */
#include "server/watches/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

#define PERIOD_LEAST_MS 5000
#define PERIOD_MOST_MS (366 * CALENDAR_DAY_MS)

/* Return the period in ms; -1 if the text is not a period from 5 s to 366 days. */
static int64_t parse_period(const char *text)
{
    static const char units[] = "smhd";
    static const int64_t units_ms[] = {1000, 60000, 3600000, CALENDAR_DAY_MS};
    char *end;
    long n = strtol(text, &end, 10);
    size_t unit = strcspn(units, end);

    if (strspn(text, "0123456789") == 0 || strlen(end) != 1 || !units[unit] || n <= 0 ||
        n > PERIOD_MOST_MS / units_ms[unit] || n * units_ms[unit] < PERIOD_LEAST_MS)
        return -1;
    return n * units_ms[unit];
}

/* Return the time since midnight in milliseconds; -1 if the text is not a time of day. */
static int64_t parse_time(const char *text)
{
    static const char digits[] = "0123456789";
    int hours, minutes;

    if (!text || strlen(text) != 5 || strspn(text, digits) != 2 || text[2] != ':' ||
        strspn(text + 3, digits) != 2)
        return -1;
    hours = atoi(text);
    minutes = atoi(text + 3);
    return hours < 24 && minutes < 60 ? (hours * 60 + minutes) * INT64_C(60000) : -1;
}

static void read_times(struct calendar *calendar, const json_t *every,
                       struct problems *problems)
{
    size_t n = json_array_size(every);
    char at[64];

    if (n == 0 || n > CALENDAR_TIMES_MAX) {
        problems_add(problems, "/every", "must contain 1 to %d times of day",
                     CALENDAR_TIMES_MAX);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        calendar->times_ms[i] = parse_time(json_string_value(json_array_get(every, i)));
        snprintf(at, sizeof(at), "/every/%zu", i);
        if (calendar->times_ms[i] < 0)
            problems_add(problems, at, "must be a time of day in UTC, such as \"02:00\"");
    }
    calendar->n_times = n;
}

static void read_window(struct calendar *calendar, json_t *window,
                        struct problems *problems)
{
    calendar->from_ms = parse_time(json_get_str(window, "from", NULL));
    calendar->until_ms = parse_time(json_get_str(window, "until", NULL));
    if (calendar->from_ms < 0 || calendar->until_ms < 0 ||
        json_object_size(window) != 2 || calendar->from_ms == calendar->until_ms)
        problems_add(problems, "/window",
                     "must be an object with two different times of day in UTC, such as "
                     "{\"from\": \"22:00\", \"until\": \"06:00\"}");
    else if (calendar->until_ms < calendar->from_ms)
        calendar->until_ms += CALENDAR_DAY_MS;
}

void calendar_read(struct calendar *calendar, const json_t *every, json_t *window,
                   struct problems *problems)
{
    calendar->period_ms = CALENDAR_DAY_MS;
    calendar->n_times = 0;
    calendar->from_ms = 0;
    calendar->until_ms = CALENDAR_DAY_MS;
    if (json_is_array(every))
        read_times(calendar, every, problems);
    else
        calendar->period_ms =
            parse_period(json_is_string(every) ? json_string_value(every) : "");
    if (calendar->period_ms < 0)
        problems_add(problems, "/every",
                     "must be a period from 5s to 366d, such as \"24h\", or an array of "
                     "times of day in UTC, such as [\"02:00\"]");
    if (window)
        read_window(calendar, window, problems);
}

/* If the window is open, return how long ago it opened. If it is closed, return minus the
 * time until it opens. */
static int64_t open_since_ms(const struct calendar *calendar, int64_t now_ms)
{
    int64_t since = now_ms % CALENDAR_DAY_MS - calendar->from_ms;

    if (since < 0)
        since += CALENDAR_DAY_MS;
    if (since < calendar->until_ms - calendar->from_ms)
        return since;
    return since - CALENDAR_DAY_MS;
}

bool calendar_is_open(const struct calendar *calendar, int64_t now_ms)
{
    return open_since_ms(calendar, now_ms) >= 0;
}

/* Return the first due time at or after `from_ms`, regardless of the window. */
static int64_t first_from(const struct calendar *calendar, int64_t from_ms)
{
    int64_t day = from_ms - from_ms % CALENDAR_DAY_MS, first = INT64_MAX, periods;

    if (calendar->n_times == 0) {
        periods = (from_ms - calendar->anchor_ms) / calendar->period_ms;
        if (calendar->anchor_ms + periods * calendar->period_ms < from_ms)
            periods++;
        return calendar->anchor_ms + periods * calendar->period_ms;
    }
    for (size_t i = 0; i < calendar->n_times; i++) {
        int64_t due = day + calendar->times_ms[i];

        due += due < from_ms ? CALENDAR_DAY_MS : 0;
        first = due < first ? due : first;
    }
    return first;
}

/* The first due time after the window closed is moved to the next opening. */
int64_t calendar_next(const struct calendar *calendar, int64_t after_ms)
{
    int64_t open_ms = calendar->until_ms - calendar->from_ms;
    int64_t since = open_since_ms(calendar, after_ms);
    int64_t due =
        first_from(calendar, since < 0 ? after_ms - since - CALENDAR_DAY_MS + open_ms
                                       : after_ms + 1);

    since = open_since_ms(calendar, due);
    return since < 0 ? due - since : due;
}

size_t calendar_count(const struct calendar *calendar, int64_t after_ms, int64_t until_ms)
{
    size_t n = 0;

    while (n < CALENDAR_COUNT_MAX &&
           (after_ms = calendar_next(calendar, after_ms)) <= until_ms)
        n++;
    return n;
}
