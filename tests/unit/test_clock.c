/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock.c - wall time for people, monotonic time for deadlines */
#include <time.h>

#include "common/base/clock.h"
#include "tests/unit/test.h"

TEST(formats_in_utc_with_milliseconds)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1769903999123, "2026-01-31T23:59:59.123Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        /* What another machine may claim. */
        {-1, "1970-01-01T00:00:00.000Z"},
        {INT64_MIN, "1970-01-01T00:00:00.000Z"},
        {253402300800000, "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CLOCK_TEXT_MAX];

        assert_string_equal(clock_format_ms(cases[i].ms, text), cases[i].text);
    }
}

TEST(wall_time_is_the_systems)
{
    int64_t before = (int64_t)time(NULL) * 1000;
    int64_t now = clock_wall_ms();
    int64_t after = (int64_t)time(NULL) * 1000;

    assert_true(now >= before - 1000 && now <= after + 1000);
}

TEST(monotonic_time_does_not_go_back)
{
    int64_t last = clock_monotonic_ns();

    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_monotonic_ns();

        assert_true(now >= last);
        last = now;
    }
}
