/* SPDX-License-Identifier: Apache-2.0 */
/* test_stopping.c - a row ends when its median is known, and the interval that says so
 * covers it however early it ended */
#include "agent/worker/bench/stopping.h"
#include "common/base/order_stat.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

#define ROWS 4000
#define BLOCKS_MAX 100

static const struct run_samples usual = {.min = 8, .max = 100, .rel = 0.02, .max_s = 0.1};

TEST(what_is_tried_here_is_what_runs_get)
{
    struct run_spec *spec = spec_of("{}");

    assert_memory_equal(&spec->samples, &usual, sizeof(usual));
    run_spec_destroy(spec);
}

TEST(there_are_few_looks)
{
    static const struct {
        struct run_samples rule;
        long n;
        double elapsed_s;
        bool is_narrow;
        long next;
    } table[] = {
        {{8, 100, 0.02, 0.2}, 0, 0, true, 8}, /* none yet: nothing is narrow */
        {{8, 100, 0.02, 0.2}, 8, 0.01, true, 8},
        {{8, 100, 0.02, 0.2}, 8, 0.01, false, 16},
        {{8, 100, 0.02, 0.2}, 64, 0.1, false, 100},
        {{8, 100, 0.02, 0.2}, 100, 0.1, false, 100},
        {{8, 100, 0.02, 0.2}, 8, 0.2, false, 8}, /* no time for more */
        {{8, 100, 0.02, 0.2}, 8, 0.19, false, 8},
        {{8, 100, 0.02, 0.2}, 8, 0.1, false, 16}, /* as many as there is time for */
        {{8, 100, 0.02, 0.2}, 8, 0.15, false, 10},
        {{8, 100, 0.02, 0.2}, 8, 0, false, 16}, /* a clock that stands still */
        {{5, 5, 0.02, 0.2}, 0, 0, false, 5},
        {{5, 5, 0.02, 0.2}, 5, 0, false, 5},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(stopping_next(&table[i].rule, table[i].is_narrow, table[i].n,
                                       table[i].elapsed_s),
                         table[i].next);
}

TEST(time_ends_a_row_between_looks)
{
    assert_false(stopping_is_late(&usual, 7, 1));
    assert_false(stopping_is_late(&usual, 8, 0.09));
    assert_true(stopping_is_late(&usual, 8, 0.1));
    assert_true(stopping_is_late(&usual, 33, 0.3));
}

/* Of rows that never become narrow, with blocks that take half a millisecond more or
 * less. */
TEST(time_adds_no_look)
{
    struct noise noise = {.shape = NOISE_LOG_NORMAL, .seed = 5};
    int most = 0;

    for (int row = 0; row < ROWS; row++) {
        double elapsed_s = 0;
        long n = 0, wanted = stopping_next(&usual, false, 0, 0);
        bool is_last = false;
        int looks = 0;

        while (wanted > n) {
            for (; n < wanted; n++)
                elapsed_s += noise_next(&noise) * 0.00105;
            looks++;
            wanted = is_last ? n : stopping_next(&usual, false, n, elapsed_s);
            is_last = stopping_is_last(&usual, n, wanted);
        }
        most = looks > most ? looks : most;
    }
    assert_int_equal(most, 5); /* 8, 16, 32, 64, and where time ends */
}

TEST(each_look_has_its_share_of_the_error)
{
    static const struct run_samples once = {.min = 20, .max = 20, .rel = 0.02};

    /* 8, 16, 32, 64, 100 */
    assert_float_equal(stopping_level(&usual), 0.99, 1e-9);
    assert_float_equal(stopping_level(&once), 0.95, 1e-9);
}

TEST(too_few_blocks_are_never_enough)
{
    static const double same[7] = {1, 1, 1, 1, 1, 1, 1};
    struct stopping_look look = stopping_look(&usual, same, 7);

    assert_false(look.has_interval);
    assert_false(look.is_narrow);
    assert_true(look.median == 1);
    assert_true(stopping_look(&usual, same, 1).median == 1);
}

TEST(narrow_is_half_the_width_over_the_median)
{
    static const double values[] = {98, 100, 100, 100, 100, 100, 100, 102};
    struct run_samples rule = usual;
    struct stopping_look look = stopping_look(&rule, values, 8);

    assert_true(look.low == 98 && look.high == 102 && look.is_narrow);
    rule.rel = 0.0199;
    assert_false(stopping_look(&rule, values, 8).is_narrow);
}

/* Blocks of a row until enough; whether the interval then has the median in it. */
static bool row_covers(struct noise *noise, bool looks_always)
{
    double us[BLOCKS_MAX], sorted[BLOCKS_MAX], elapsed_s = 0;
    struct stopping_look look = {.is_narrow = false};
    long n = 0, wanted = stopping_next(&usual, false, 0, 0);

    while (n < wanted) {
        for (; n < wanted; n++) {
            us[n] = noise_next(noise);
            elapsed_s += us[n] * 0.002;
        }
        memcpy(sorted, us, sizeof(*us) * (size_t)n);
        order_stat_sort(sorted, (size_t)n);
        look = stopping_look(&usual, sorted, (size_t)n);
        if (looks_always) {
            look.has_interval =
                order_stat_interval(sorted, (size_t)n, 0.95, &look.low, &look.high);
            look.is_narrow = (look.high - look.low) / 2 <= usual.rel * look.median;
        }
        wanted = looks_always && !look.is_narrow && n < BLOCKS_MAX
                     ? n + 1
                     : stopping_next(&usual, look.is_narrow, n, elapsed_s);
    }
    return look.has_interval && look.low <= noise_median(noise) &&
           noise_median(noise) <= look.high;
}

static int rows_covered(int shape, bool looks_always)
{
    struct noise noise = {.shape = (enum noise_shape)shape, .seed = 11};
    int covered = 0;

    for (int i = 0; i < ROWS; i++)
        covered += row_covers(&noise, looks_always);
    return covered;
}

TEST(intervals_cover_after_an_early_end)
{
    for (int shape = 0; shape < NOISE_COUNT; shape++)
        assert_in_range(rows_covered(shape, false), ROWS * 0.98, ROWS);
}

/* That there is something to avoid. */
TEST(who_looks_always_stops_where_it_is_wrong)
{
    assert_in_range(rows_covered(NOISE_HEAVY, true), 0, ROWS * 0.935);
}
