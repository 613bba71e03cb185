/* SPDX-License-Identifier: Apache-2.0 */
/* test_lateness.c - a late rank is told from noise */
#include "common/base/json_util.h"
#include "common/base/order_stat.h"
#include "server/analysis/lateness.h"
#include "tests/unit/seeded_noise.h"
#include "tests/unit/test.h"

#define RUNS test_seeds(200)
#define ROWS 28
#define RANKS_MAX 20000

/* A run of a sweep: one rank comes late to each call, or its transfer is slow. */
struct sweep {
    int ranks, per_node, late_rank;
    double late_us, slower, error_us;
    const char *collective;
    size_t rows;
    double busy_us;  /* each rank comes by so much later or earlier, row by row */
    double apart_us; /* than the rank before it, in all rows */
    double late;     /* the spec's late_percent as a part; 0: as usual */
};

static const char *node_of(const void *arg, int rank)
{
    static char names[RANKS_MAX][8];
    int node = rank / ((const struct sweep *)arg)->per_node;

    assert_in_range(node, 0, RANKS_MAX - 1);
    snprintf(names[node], sizeof(names[node]), "n%d", node);
    return names[node];
}

/* Clocks are off by as much as they can be; each rank comes when it is let to. */
static json_t *make_row(const struct sweep *sweep, size_t row, struct noise *noise)
{
    json_t *late = json_array();
    double own[RANKS_MAX], sorted[RANKS_MAX];
    size_t n = (size_t)sweep->ranks;
    double time = (22 + pow(2, (double)row) / 50e3) * sweep->slower;

    for (int i = 0; i < sweep->ranks; i++) {
        double off =
            i < sweep->per_node ? 0 : sweep->error_us * (2 * noise_uniform(noise) - 1);
        own[i] = fabs(noise_normal(noise)) + off + sweep->apart_us * i -
                 sweep->busy_us * log(noise_uniform(noise)) +
                 (i == sweep->late_rank ? sweep->late_us : 0);
    }
    memcpy(sorted, own, n * sizeof(*own));
    order_stat_sort(sorted, n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(late, json_real(own[i] - sorted[(n - 1) / 2]));
    return json_pack("{s:s, s:f, s:f, s:o}", "collective", sweep->collective,
                     "time_max_us",
                     (time + sweep->late_us) * exp(0.02 * noise_normal(noise)),
                     "late_error_us", sweep->error_us, "late_us", late);
}

static json_t *judge(const struct sweep *sweep, uint64_t seed)
{
    struct lateness *lateness = lateness_create(
        (size_t)sweep->ranks, sweep->late > 0 ? sweep->late : 0.2, node_of, sweep);
    struct noise noise = {.seed = seed * 104729};
    json_t *verdict;

    assert_non_null(lateness);
    for (size_t i = 0; i < sweep->rows; i++) {
        json_t *row = make_row(sweep, i, &noise);

        lateness_add(lateness, row);
        json_decref(row);
    }
    verdict = lateness_verdict(lateness);
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
    return (struct sweep){.ranks = ranks,
                          .per_node = 1,
                          .late_rank = 1,
                          .slower = 1,
                          .collective = "all_reduce",
                          .rows = ROWS};
}

TEST(a_late_rank_is_named)
{
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        struct sweep sweep = usual(ranks);

        sweep.late_us = 300;
        sweep.error_us = 30;
        assert_in_range(count(&sweep, "late_rank"), RUNS - 1, RUNS);
        sweep.late_us = 20;
        sweep.error_us = 0;
        assert_in_range(count(&sweep, "late_rank"), RUNS - 1, RUNS);
    }
}

/* Each of whose rows has many figures. */
TEST(of_many_ranks_the_late_one_is_named)
{
    for (int ranks = 8193; ranks <= RANKS_MAX; ranks += 11000) {
        struct sweep sweep = usual(ranks);
        json_t *verdict;

        sweep.rows = 12;
        sweep.late_us = 300;
        verdict = judge(&sweep, 1);
        assert_string_equal(json_get_str(verdict, "answer", ""), "late_rank");
        assert_int_equal(json_get_int(json_object_get(verdict, "evidence"), "late", 0),
                         1);
        assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 1);
        json_decref(verdict);
        sweep.late_us = 0;
        verdict = judge(&sweep, 1);
        assert_string_equal(json_get_str(verdict, "answer", ""), "none");
        assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 0);
        json_decref(verdict);
    }
}

TEST(of_ranks_in_time_none_is)
{
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        struct sweep sweep = usual(ranks);

        sweep.error_us = 2;
        assert_int_equal(count(&sweep, "none"), RUNS);
        sweep.slower = 4;
        sweep.error_us = 8;
        assert_int_equal(count(&sweep, "none"), RUNS);
    }
}

TEST(a_busy_machine_is_no_late_rank)
{
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        struct sweep sweep = usual(ranks);

        sweep.late_rank = -1;
        sweep.busy_us = 40;
        assert_int_equal(count(&sweep, "late_rank"), 0);
        sweep.rows = 8;
        assert_int_equal(count(&sweep, "late_rank"), 0);
        sweep.rows = ROWS;
        sweep.busy_us = 2;
        sweep.apart_us = ranks > 2 ? 10 : 0;
        assert_int_equal(count(&sweep, "late_rank"), 0);
    }
}

TEST(what_clocks_cannot_tell_is_not_enough_data)
{
    struct sweep sweep = usual(4);
    json_t *verdict;

    sweep.late_us = 50;
    sweep.error_us = 400;
    sweep.rows = 24;
    assert_int_equal(count(&sweep, "not_enough_data"), RUNS);
    verdict = judge(&sweep, 1);
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""),
                           "too short for the clock error of 400 us or more"));
    json_decref(verdict);
}

TEST(rows_that_cannot_tell_are_not_enough_data)
{
    struct sweep sweep = usual(4);

    sweep.late_us = 300;
    sweep.rows = 7;
    assert_int_equal(count(&sweep, "not_enough_data"), RUNS);
    sweep.rows = ROWS;
    sweep.collective = "broadcast";
    assert_int_equal(count(&sweep, "not_enough_data"), RUNS);
}

TEST(a_sentence_names_no_rank_that_it_does_not_accuse)
{
    struct sweep sweep = usual(8);
    json_t *verdict = judge(&sweep, 1);

    assert_string_equal(json_get_str(verdict, "answer", ""), "none");
    assert_null(strstr(json_get_str(verdict, "sentence", ""), " on n"));
    json_decref(verdict);
}

TEST(the_sentence_has_rank_node_and_delay)
{
    struct sweep sweep = usual(4);
    json_t *verdict, *delay;

    sweep.late_us = 300;
    sweep.late_rank = 2;
    sweep.error_us = 12;
    verdict = judge(&sweep, 1);
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""),
                           "rank 2 on n2 is late in 28 of 28 rows: the latest arrives "));
    assert_non_null(
        strstr(json_get_str(verdict, "sentence", ""),
               "(clocks agree within 12 us); the cause is the host, not the "));
    delay = json_array_get(
        json_object_get(json_object_get(verdict, "evidence"), "delays"), 0);
    assert_in_range((uint64_t)json_get_num(delay, "late_us", 0), 288, 312);
    json_decref(verdict);
}

/* A call takes 100 us where nothing is late. */
TEST(how_late_is_late_is_the_users)
{
    struct sweep sweep = usual(8);

    sweep.late_us = 100;
    assert_in_range(count(&sweep, "late_rank"), RUNS - 1, RUNS);
    sweep.late = 0.9;
    assert_int_equal(count(&sweep, "late_rank"), 0);
}
