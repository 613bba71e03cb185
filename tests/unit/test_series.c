/* SPDX-License-Identifier: Apache-2.0 */
/* test_series.c - the order of a case's rows */
#include "common/spec/series.h"
#include "tests/unit/test.h"

static const enum collective_kind kinds[] = {COLLECTIVE_BROADCAST, COLLECTIVE_ALL_REDUCE,
                                             COLLECTIVE_REDUCE, COLLECTIVE_ALL_GATHER};
static const enum dtype dtypes[] = {DTYPE_FLOAT32, DTYPE_INT8};
static const enum redop redops[] = {REDOP_MAX, REDOP_SUM};
static const uint64_t sizes[] = {8, 1024, 16};

static struct series_plan plan_of(size_t n_kinds, size_t n_dtypes, size_t n_redops,
                                  long root)
{
    return (struct series_plan){
        .collectives = kinds,
        .n_collectives = n_kinds,
        .dtypes = dtypes,
        .n_dtypes = n_dtypes,
        .redops = redops,
        .n_redops = n_redops,
        .sizes = sizes,
        .n_sizes = 3,
        .root = root,
        .out_of_place = true,
        .in_place = true,
        .world_size = 3,
    };
}

struct expected {
    size_t series;
    enum collective_kind kind;
    enum dtype dtype;
    int redop, root;
    bool in_place;
    uint64_t size;
};

static void expect(const struct series_plan *plan, size_t row, struct expected want)
{
    struct series_row got;

    assert_true(series_row_at(plan, row, &got));
    if (got.row != row || got.series != want.series || got.collective != want.kind ||
        got.dtype != want.dtype || got.redop != want.redop || got.root != want.root ||
        got.in_place != want.in_place || got.size != want.size)
        fail_msg("row %zu: series %zu %s %s redop %d root %d in_place %d size %llu", row,
                 got.series, collective_name(got.collective), dtype_name(got.dtype),
                 got.redop, got.root, got.in_place, (unsigned long long)got.size);
}

TEST(one_series_alternates_placements_within_each_size)
{
    struct series_plan plan = plan_of(1, 1, 1, 0);

    assert_int_equal(series_rows(&plan), 6);
    expect(&plan, 0, (struct expected){0, kinds[0], DTYPE_FLOAT32, -1, 0, false, 8});
    expect(&plan, 1, (struct expected){1, kinds[0], DTYPE_FLOAT32, -1, 0, true, 8});
    expect(&plan, 2, (struct expected){0, kinds[0], DTYPE_FLOAT32, -1, 0, false, 1024});
    expect(&plan, 5, (struct expected){1, kinds[0], DTYPE_FLOAT32, -1, 0, true, 16});
}

TEST(a_cycle_is_all_rows_again)
{
    struct series_plan plan = plan_of(1, 1, 1, 0);
    struct series_row row;

    plan.cycles = 3;
    assert_int_equal(series_rows(&plan), 18);
    expect(&plan, 6, (struct expected){0, kinds[0], DTYPE_FLOAT32, -1, 0, false, 8});
    expect(&plan, 17, (struct expected){1, kinds[0], DTYPE_FLOAT32, -1, 0, true, 16});
    assert_true(series_row_at(&plan, 5, &row));
    assert_int_equal(row.cycle, 0);
    assert_true(series_row_at(&plan, 12, &row));
    assert_int_equal(row.cycle, 2);
    assert_false(series_row_at(&plan, 18, &row));
}

TEST(only_what_a_collective_uses_multiplies_it)
{
    struct series_plan plan = plan_of(4, 2, 2, 1);

    /* broadcast 2 + all_reduce 2*2 + reduce 2*2 + all_gather 2 lines, 6 rows each. */
    assert_int_equal(series_rows(&plan), 12 * 6);
    expect(&plan, 6, (struct expected){2, kinds[0], DTYPE_INT8, -1, 1, false, 8});
    expect(&plan, 12,
           (struct expected){4, kinds[1], DTYPE_FLOAT32, REDOP_MAX, -1, false, 8});
    expect(&plan, 18,
           (struct expected){6, kinds[1], DTYPE_FLOAT32, REDOP_SUM, -1, false, 8});
    expect(&plan, 24,
           (struct expected){8, kinds[1], DTYPE_INT8, REDOP_MAX, -1, false, 8});
    expect(&plan, 36,
           (struct expected){12, kinds[2], DTYPE_FLOAT32, REDOP_MAX, 1, false, 8});
    expect(&plan, 60, (struct expected){20, kinds[3], DTYPE_FLOAT32, -1, -1, false, 8});
    expect(&plan, 71, (struct expected){23, kinds[3], DTYPE_INT8, -1, -1, true, 16});
}

TEST(root_minus_one_is_every_rank_in_turn)
{
    struct series_plan plan = plan_of(3, 1, 2, -1);

    /* broadcast 3 roots, all_reduce 2 redops, reduce 2 redops * 3 roots. */
    assert_int_equal(series_rows(&plan), (3 + 2 + 6) * 6);
    for (int root = 0; root < 3; root++) {
        size_t line = (size_t)root;

        expect(&plan, line * 6,
               (struct expected){line * 2, kinds[0], DTYPE_FLOAT32, -1, root, false, 8});
        expect(&plan, (5 + line) * 6,
               (struct expected){(5 + line) * 2, kinds[2], DTYPE_FLOAT32, REDOP_MAX, root,
                                 false, 8});
        expect(&plan, (8 + line) * 6,
               (struct expected){(8 + line) * 2, kinds[2], DTYPE_FLOAT32, REDOP_SUM, root,
                                 false, 8});
    }
}

TEST(one_placement_halves_the_rows)
{
    struct series_plan plan = plan_of(1, 2, 1, 0);

    plan.out_of_place = false;
    assert_int_equal(series_rows(&plan), 6);
    expect(&plan, 0, (struct expected){0, kinds[0], DTYPE_FLOAT32, -1, 0, true, 8});
    expect(&plan, 3, (struct expected){1, kinds[0], DTYPE_INT8, -1, 0, true, 8});
    plan.out_of_place = true;
    plan.in_place = false;
    expect(&plan, 4, (struct expected){1, kinds[0], DTYPE_INT8, -1, 0, false, 1024});
}

TEST(there_is_no_row_past_the_last)
{
    struct series_plan plan = plan_of(4, 2, 2, -1);
    struct series_row row;

    assert_false(series_row_at(&plan, series_rows(&plan), &row));
    assert_false(series_row_at(&plan, SIZE_MAX, &row));
    plan.n_sizes = 0;
    assert_int_equal(series_rows(&plan), 0);
    assert_false(series_row_at(&plan, 0, &row));
    plan.n_sizes = 3;
    plan.in_place = plan.out_of_place = false;
    assert_false(series_row_at(&plan, 0, &row));
}
