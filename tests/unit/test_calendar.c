/* SPDX-License-Identifier: Apache-2.0 */
/* test_calendar.c - when a watch is due */
#include "server/watches/calendar.h"
#include "tests/unit/test.h"

#define HOUR INT64_C(3600000)
#define MINUTE INT64_C(60000)
#define DAY CALENDAR_DAY_MS

static struct calendar calendar_of(const char *every, const char *window, size_t faults)
{
    struct calendar calendar = {.anchor_ms = 10 * DAY + 3 * HOUR};
    json_t *json = json_loads(every, JSON_DECODE_ANY, NULL);
    json_t *open = window ? json_loads(window, 0, NULL) : NULL;
    struct problems problems;

    problems_init(&problems);
    calendar_read(&calendar, json, open, &problems);
    assert_int_equal(problems.count, faults);
    problems_release(&problems);
    json_decref(json);
    json_decref(open);
    return calendar;
}

TEST(a_period_goes_through_its_anchor)
{
    struct calendar calendar = calendar_of("\"6h\"", NULL, 0);
    int64_t anchor = calendar.anchor_ms;

    assert_int_equal(calendar_next(&calendar, anchor - 1), anchor);
    assert_int_equal(calendar_next(&calendar, anchor - 5 * DAY),
                     anchor - 5 * DAY + 6 * HOUR);
    assert_int_equal(calendar_next(&calendar, anchor), anchor + 6 * HOUR);
    assert_int_equal(calendar_next(&calendar, anchor + 6 * HOUR - 1), anchor + 6 * HOUR);
    assert_int_equal(calendar_count(&calendar, anchor, anchor + DAY), 4);
    assert_int_equal(calendar_count(&calendar, anchor, anchor + 1000 * DAY),
                     CALENDAR_COUNT_MAX);
    assert_int_equal(calendar_count(&calendar, anchor, anchor), 0);
    assert_int_equal(calendar.period_ms, 6 * HOUR);
    assert_true(calendar_is_open(&calendar, 0));
}

TEST(times_of_day_come_in_order_whatever_the_order_given)
{
    struct calendar calendar = calendar_of("[\"14:30\", \"02:00\"]", NULL, 0);

    assert_int_equal(calendar_next(&calendar, 5 * DAY), 5 * DAY + 2 * HOUR);
    assert_int_equal(calendar_next(&calendar, 5 * DAY + 2 * HOUR),
                     5 * DAY + 14 * HOUR + 30 * MINUTE);
    assert_int_equal(calendar_next(&calendar, 5 * DAY + 20 * HOUR), 6 * DAY + 2 * HOUR);
    assert_int_equal(calendar.period_ms, DAY);
}

TEST(a_time_outside_the_window_moves_to_its_beginning_once)
{
    struct calendar calendar =
        calendar_of("\"1h\"", "{\"from\":\"22:30\",\"until\":\"01:30\"}", 0);
    int64_t opening = 20 * DAY + 22 * HOUR + 30 * MINUTE;

    assert_false(calendar_is_open(&calendar, opening - 1));
    assert_true(calendar_is_open(&calendar, opening));
    assert_true(calendar_is_open(&calendar, 21 * DAY + 89 * MINUTE));
    assert_false(calendar_is_open(&calendar, 21 * DAY + 90 * MINUTE));
    assert_int_equal(calendar_next(&calendar, 20 * DAY + 12 * HOUR), opening);
    assert_int_equal(calendar_next(&calendar, opening), 20 * DAY + 23 * HOUR);
    assert_int_equal(calendar_next(&calendar, 21 * DAY + HOUR), opening + DAY);
    /* 22:30, 23:00, 0:00 and 1:00 */
    assert_int_equal(calendar_count(&calendar, opening - 1, opening + DAY - 1), 4);
}

TEST(a_window_without_a_due_time_in_it_delays_that)
{
    struct calendar calendar =
        calendar_of("\"24h\"", "{\"from\":\"22:00\",\"until\":\"23:00\"}", 0);

    assert_int_equal(calendar_next(&calendar, calendar.anchor_ms - 1),
                     10 * DAY + 22 * HOUR);
    assert_int_equal(calendar_next(&calendar, 10 * DAY + 22 * HOUR),
                     11 * DAY + 22 * HOUR);
}

TEST(odd_times_are_refused)
{
    static const char *const periods[] = {
        "\"\"",        "\"h\"",       "\"4s\"",
        "\"367d\"",    "\"-1h\"",     "\"1 h\"",
        "\"1.5h\"",    "3600",        "[]",
        "[1]",         "[\"24:00\"]", "[\"2:00\"]",
        "[\"02:60\"]", "null",        "\"99999999999999999999d\""};
    static const char *const windows[] = {
        "{}", "{\"from\":\"01:00\"}", "{\"from\":\"01:00\",\"until\":\"01:00\"}",
        "{\"from\":\"01:00\",\"until\":\"x\"}",
        "{\"from\":\"01:00\",\"until\":\"2:00\",\"a\":1}"};

    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
        calendar_of(periods[i], NULL, 1);
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
        calendar_of("\"1h\"", windows[i], 1);
}
