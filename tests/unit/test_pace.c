/* SPDX-License-Identifier: Apache-2.0 */
/* test_pace.c - a run's rest is told from its rows, or not at all */
#include "server/runs/pace.h"
#include "tests/unit/test.h"

#define SIZES 8

/* 1 KiB to 16 MiB, times 4. A row takes 10 ms and 1 ms per KiB. */
static uint64_t sizes[SIZES];
static const enum collective_kind kinds[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_BROADCAST};
static const enum dtype dtypes[] = {DTYPE_FLOAT32};
static const enum redop redops[] = {REDOP_SUM};
static const struct series_plan plan = {.collectives = kinds,
                                        .n_collectives = 2,
                                        .dtypes = dtypes,
                                        .n_dtypes = 1,
                                        .redops = redops,
                                        .n_redops = 1,
                                        .sizes = sizes,
                                        .n_sizes = SIZES,
                                        .out_of_place = true,
                                        .in_place = true,
                                        .world_size = 2};

static int64_t row_ms(size_t row)
{
    return 10 + (int64_t)(sizes[row / 2 % SIZES] >> 10);
}

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        sizes[i] = UINT64_C(1024) << 2 * i;
    return 0;
}

EACH_FIXTURE(setup, NULL);

/* Let the rows `from` to `end` of a case come in; returns the time of the last. */
static int64_t play(struct pace *pace, size_t from, size_t end, int64_t now)
{
    for (size_t row = from; row < end; row++) {
        struct series_row at;
        json_t *about;

        assert_true(series_row_at(&plan, row, &at));
        about = json_pack("{s:s}", "collective", collective_name(at.collective));
        now += row_ms(row);
        pace_result(pace, now, about, (int64_t)at.size, (int64_t)row);
        json_decref(about);
    }
    return now;
}

static double rest_s(size_t from)
{
    double ms = 0.0;

    for (size_t row = from; row < series_rows(&plan); row++)
        ms += (double)row_ms(row);
    return ms / 1e3;
}

static void near_to(double value, double wanted, double share)
{
    if (value < wanted * (1.0 - share) || value > wanted * (1.0 + share))
        fail_msg("%.6g is not near %.6g", value, wanted);
}

/* The first rows of a case, and the time after them. */
static int64_t begin(struct pace *pace, size_t n_rows)
{
    pace_init(pace);
    pace_case_begins(pace, 1000);
    return play(pace, 0, n_rows, 2000);
}

TEST(nothing_is_said_before_it_is_known)
{
    const char *basis = NULL;
    struct pace pace;
    int64_t now;

    pace_init(&pace);
    assert_true(pace_eta(&pace, &plan, 1, 5000, &basis) < 0.0);
    pace_case_begins(&pace, 1000);
    assert_true(pace_eta(&pace, &plan, 1, 5000, &basis) < 0.0);
    /* 16 KiB is measured, and 16 MiB is ahead. */
    now = play(&pace, 0, 6, 2000);
    assert_true(pace_eta(&pace, &plan, 0, now, &basis) < 0.0);
}

TEST(larger_sizes_are_extrapolated)
{
    const char *basis = NULL;
    struct pace pace;
    int64_t now = begin(&pace, 13);

    near_to(pace_eta(&pace, &plan, 0, now, &basis), rest_s(13), 0.05);
    assert_string_equal(basis, "extrapolated");
}

TEST(known_sizes_are_measured)
{
    const char *basis = NULL;
    struct pace pace;
    int64_t now = begin(&pace, 16);

    for (size_t row = 16; row < series_rows(&plan); row++) {
        near_to(pace_eta(&pace, &plan, 0, now, &basis), rest_s(row), 0.05);
        assert_string_equal(basis, "measured");
        now = play(&pace, row, row + 1, now);
    }
    near_to(pace_eta(&pace, &plan, 0, now, &basis) + 1.0, 1.0, 0.0);
}

TEST(time_goes_on_within_a_row)
{
    const char *basis = NULL;
    struct pace pace;
    int64_t now = begin(&pace, 16);

    near_to(pace_eta(&pace, &plan, 0, now + 700, &basis), rest_s(16) - 0.7, 0.05);
    near_to(pace_eta(&pace, &plan, 0, now + 1000000, &basis) + 1.0, 1.0, 0.0);
}

TEST(further_cases_and_cycles_are_counted)
{
    struct series_plan cycles = plan;
    const char *basis = NULL;
    struct pace pace;
    int64_t now;

    cycles.cycles = 3;
    now = begin(&pace, 32);
    near_to(pace_eta(&pace, &cycles, 0, now, &basis), 2 * rest_s(0), 0.05);
    pace_case_ends(&pace, now, true);
    near_to(pace_eta(&pace, &plan, 3, now, &basis), 3 * (rest_s(0) + 1.0), 0.05);
}

TEST(programs_are_told_from_their_cases)
{
    const char *basis = NULL;
    struct pace pace;

    pace_init(&pace);
    pace_case_begins(&pace, 1000);
    assert_true(pace_eta(&pace, NULL, 2, 2000, &basis) < 0.0);
    pace_case_ends(&pace, 11000, false);
    assert_true(pace_eta(&pace, NULL, 2, 12000, &basis) < 0.0);
    pace_case_begins(&pace, 20000);
    pace_case_ends(&pace, 30000, true);
    pace_case_begins(&pace, 40000);
    near_to(pace_eta(&pace, NULL, 2, 44000, &basis), 26.0, 0.001);
    assert_string_equal(basis, "cases");
}
