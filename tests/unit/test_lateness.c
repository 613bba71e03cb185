/* test_lateness.c - a late rank is told from slow links and from noise */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/json_util.h"
#include "server/analysis/lateness.h"
#include "tests/unit/seeded_noise.h"

#define RUNS 200
#define ROWS 28

/* A run of a sweep: of one rank each call is late, or its time is a part shorter. */
struct sweep {
    int ranks, late_rank;
    double late_us, part;
    const char *collective;
    size_t rows;
};

static const char *node_of(const void *arg, int rank)
{
    (void)arg;
    return rank < 2 ? "n0" : "n1";
}

/* Each rank has 2 % of its own in each row. */
static json_t *make_row(const struct sweep *sweep, size_t row, struct noise *noise)
{
    json_t *times = json_array();
    double time = 22 + pow(2, (double)row) / 50e3;

    for (int i = 0; i < sweep->ranks; i++) {
        double own = time * exp(0.02 * noise_normal(noise));

        if (i != sweep->late_rank)
            own += sweep->late_us;
        else
            own *= 1 - sweep->part;
        json_array_append_new(times, json_real(own));
    }
    return json_pack("{s:s, s:o}", "collective", sweep->collective, "times_us", times);
}

static json_t *judge(const struct sweep *sweep, uint64_t seed)
{
    struct lateness *lateness = lateness_create((size_t)sweep->ranks);
    struct noise noise = {.seed = seed * 104729};
    json_t *verdict;

    assert_non_null(lateness);
    for (size_t i = 0; i < sweep->rows; i++) {
        json_t *row = make_row(sweep, i, &noise);

        lateness_add(lateness, row);
        json_decref(row);
    }
    verdict = lateness_verdict(lateness, node_of, NULL);
    assert_non_null(verdict);
    lateness_destroy(lateness);
    return verdict;
}

static size_t count(const struct sweep *sweep, const char *answer)
{
    size_t n = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        json_t *verdict = judge(sweep, seed);

        n += strcmp(json_get_str(verdict, "answer", ""), answer) == 0;
        json_decref(verdict);
    }
    return n;
}

static struct sweep usual(int ranks)
{
    return (struct sweep){
        .ranks = ranks, .late_rank = 1, .collective = "all_reduce", .rows = ROWS};
}

static void a_late_rank_is_named(void **state)
{
    struct sweep sweep;

    (void)state;
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        sweep = usual(ranks);
        sweep.late_us = 300;
        assert_in_range(count(&sweep, "late_rank"), 199, 200);
    }
    sweep = usual(4);
    sweep.late_us = 20;
    assert_in_range(count(&sweep, "late_rank"), 199, 200);
}

static void of_ranks_in_time_none_is(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        struct sweep sweep = usual(ranks);

        assert_int_equal(count(&sweep, "none"), RUNS);
    }
}

/* It is a part of each time, however long: nobody waited for that rank. */
static void what_grows_with_the_size_is_no_lateness(void **state)
{
    struct sweep sweep = usual(4);

    (void)state;
    sweep.part = 0.5;
    assert_int_equal(count(&sweep, "none"), RUNS);
}

static void rows_that_cannot_tell_are_not_enough_data(void **state)
{
    struct sweep sweep = usual(4);

    (void)state;
    sweep.late_us = 300;
    sweep.rows = 7;
    assert_int_equal(count(&sweep, "not_enough_data"), RUNS);
    sweep.rows = ROWS;
    sweep.collective = "broadcast";
    assert_int_equal(count(&sweep, "not_enough_data"), RUNS);
}

static void the_sentence_has_rank_node_and_lead(void **state)
{
    struct sweep sweep = usual(4);
    json_t *verdict, *lead;

    (void)state;
    sweep.late_us = 300;
    sweep.late_rank = 2;
    verdict = judge(&sweep, 1);
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""),
                           "rank 2 on n1 is late: its time is the shortest in "));
    lead =
        json_array_get(json_object_get(json_object_get(verdict, "evidence"), "leads"), 0);
    assert_in_range((uint64_t)json_get_num(lead, "lead_us", 0), 295, 305);
    json_decref(verdict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_rank_is_named),
        cmocka_unit_test(of_ranks_in_time_none_is),
        cmocka_unit_test(what_grows_with_the_size_is_no_lateness),
        cmocka_unit_test(rows_that_cannot_tell_are_not_enough_data),
        cmocka_unit_test(the_sentence_has_rank_node_and_lead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
