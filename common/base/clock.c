/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - reads wall time for display, and monotonic time for deadlines and
 * measurements */
#include "common/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* the latest time in RFC 3339: 9999-12-31T23:59:59.999Z */
#define LAST_MS INT64_C(253402300799999)

int64_t clock_wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct clock_time clock_read(const struct clock *clock)
{
    struct clock_time now;

    if (clock)
        return clock->read(clock->arg);
    now.wall_ms = clock_wall_ms();
    now.monotonic_ns = clock_monotonic_ns();
    return now;
}

const char *clock_format_ms(int64_t wall_ms, char text[CLOCK_TEXT_MAX])
{
    time_t seconds;
    struct tm parts;
    size_t n;

    /* Clamp times that another program supplied: RFC 3339 ends at the year 9999, and this
     * function starts at 1970. */
    if (wall_ms < 0)
        wall_ms = 0;
    if (wall_ms > LAST_MS)
        wall_ms = LAST_MS;
    seconds = (time_t)(wall_ms / 1000);
    gmtime_r(&seconds, &parts);
    n = strftime(text, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + n, CLOCK_TEXT_MAX - n, ".%03dZ", (int)(wall_ms % 1000));
    return text;
}

int64_t clock_parse_ms(const char *text)
{
    struct tm parts;
    const char *rest;
    int ms = 0;

    memset(&parts, 0, sizeof(parts));
    rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;
    if (!rest)
        return 0;
    if (*rest == '.')
        ms = (int)strtol(rest + 1, NULL, 10);
    return (int64_t)timegm(&parts) * 1000 + ms;
}
