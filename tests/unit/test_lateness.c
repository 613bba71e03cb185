/* test_lateness.c - a late rank is told from slow links and from noise */
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
    double busy_us;   /* each rank comes by so much later or earlier, row by row */
    double apart_us;  /* than the rank before it, in all rows */
    int links;        /* from that of n1 and n2 on so many are slow */
    bool is_buffered; /* who sends has done so at once */
    const char *slow;
    double late; /* the spec's late_percent as a part; 0: as usual */
};

static const char *node_of(const void *arg, int rank)
{
    static char names[RANKS_MAX][8];
    int node = rank / ((const struct sweep *)arg)->per_node;

    assert_in_range(node, 0, RANKS_MAX - 1);
    snprintf(names[node], sizeof(names[node]), "n%d", node);
    return names[node];
}

/* What a message takes from a rank to the next, over memory or the network. */
static double link_times(const struct sweep *sweep, int rank)
{
    int node = rank / sweep->per_node;

    if ((rank + 1) % sweep->ranks / sweep->per_node == node)
        return 1.0 / 6;
    return node >= 1 && node < 1 + sweep->links ? 4 : 1;
}

/* Of sendrecv: a rank waits for both neighbours, and its slower link counts. */
static json_t *make_times(const struct sweep *sweep, size_t row, const double *came,
                          struct noise *noise)
{
    json_t *times = json_array();
    int n = sweep->ranks;

    for (int i = 0; i < n; i++) {
        int last = (i + n - 1) % n;
        double bytes = pow(2, (double)row) / 50e3;
        double sends = sweep->is_buffered ? 0 : link_times(sweep, i);
        double own = 22 + bytes * fmax(sends, link_times(sweep, last));
        double later = fmax(came[last], came[(i + 1) % n]);

        json_array_append_new(times, json_real(own * exp(0.02 * noise_normal(noise)) +
                                               fmax(later - came[i], 0)));
    }
    return times;
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
    return json_pack("{s:s, s:o, s:f, s:f, s:o}", "collective", sweep->collective,
                     "times_us", make_times(sweep, row, own, noise), "time_max_us",
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
    verdict = lateness_verdict(lateness, sweep->slow);
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
        json_decref(verdict);
        sweep.late_us = 0;
        verdict = judge(&sweep, 1);
        assert_string_equal(json_get_str(verdict, "answer", ""), "none");
        json_decref(verdict);
        sweep.late_rank = -1;
        sweep.collective = "sendrecv";
        sweep.links = 1;
        sweep.rows = ROWS;
        verdict = judge(&sweep, 1);
        assert_string_equal(json_get_str(verdict, "answer", ""), "slow_transfer");
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
                           "too short for clocks that agree within 400 us at best"));
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

static const char slow_pair[] = "what n1 and n2 exchange is slow";
static const char slow_node[] = "what n2 exchanges with its neighbours is slow";
static const char slow_somewhere[] = "but whose cannot be told";

/* Each row of both kinds; how often the sentence has that. */
static size_t count_sentences(struct sweep *sweep, const char *text)
{
    size_t n = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        json_t *verdict = judge(sweep, seed);

        n += strstr(json_get_str(verdict, "sentence", ""), text) != NULL;
        json_decref(verdict);
    }
    return n;
}

/* The ranks at nodes' edges take six times as long as those that share memory, or, where
 * what is sent is buffered, those that receive there. */
TEST(ranks_within_a_node_say_nothing_against_its_edge)
{
    for (int nodes = 2; nodes <= 16; nodes *= nodes) {
        for (int busy = 0; busy <= 10; busy += 10) {
            struct sweep sweep = usual(8 * nodes);

            sweep.per_node = 8;
            sweep.late_rank = -1;
            sweep.collective = "sendrecv";
            sweep.error_us = 1 + busy;
            sweep.busy_us = busy;
            assert_int_equal(count(&sweep, "slow_transfer"), 0);
            sweep.is_buffered = true;
            assert_int_equal(count(&sweep, "slow_transfer"), 0);
            sweep.late_rank = 7;
            sweep.late_us = 300;
            assert_int_equal(count(&sweep, "slow_transfer"), 0);
        }
    }
}

TEST(a_link_between_nodes_of_several_ranks_is_named)
{
    for (int i = 0; i < 4; i++) {
        struct sweep sweep = usual(i & 1 ? 128 : 32);

        sweep.per_node = 8;
        sweep.late_rank = -1;
        sweep.collective = "sendrecv";
        sweep.error_us = 15;
        sweep.is_buffered = i & 2;
        sweep.links = 1;
        assert_int_equal(count_sentences(&sweep, slow_pair), RUNS);
        sweep.links = 2;
        assert_int_equal(count_sentences(&sweep, slow_node), RUNS);
        sweep.links = 3;
        assert_int_equal(count_sentences(&sweep, slow_somewhere), RUNS);
    }
}

TEST(a_slow_transfer_is_told_from_a_late_rank)
{
    for (int ranks = 6; ranks <= 64; ranks *= 2) {
        struct sweep sweep = usual(ranks);

        sweep.late_rank = -1;
        sweep.collective = "sendrecv";
        sweep.error_us = 1;
        assert_int_equal(count(&sweep, "slow_transfer"), 0);
        sweep.busy_us = 10;
        assert_int_equal(count(&sweep, "slow_transfer"), 0);
        sweep.error_us = 15;
        assert_int_equal(count(&sweep, "slow_transfer"), 0);
        sweep.error_us = 1;
        sweep.busy_us = 0;
        sweep.links = 1;
        assert_int_equal(count_sentences(&sweep, slow_pair), RUNS);
        sweep.error_us = 15;
        assert_int_equal(count_sentences(&sweep, slow_pair), RUNS);
        sweep.error_us = 1;
        sweep.is_buffered = true;
        assert_int_equal(count_sentences(&sweep, slow_pair), RUNS);
        sweep.is_buffered = false;
        sweep.links = 2;
        assert_int_equal(count_sentences(&sweep, slow_node), RUNS);
        sweep.links = 3;
        assert_int_equal(count_sentences(&sweep, slow_somewhere), RUNS);
        sweep.links = 0;
        sweep.late_rank = 2;
        sweep.late_us = 300;
        assert_int_equal(count(&sweep, "slow_transfer"), 0);
    }
}

TEST(a_run_that_fails_a_check_is_slow_in_the_transfer)
{
    struct sweep sweep = usual(8);

    sweep.slow = "large: 9 GB/s, not at least 40";
    sweep.late_us = 300;
    assert_int_equal(count(&sweep, "late_rank"), RUNS);
    sweep.late_us = 0;
    assert_int_equal(count(&sweep, "slow_transfer"), RUNS);
    assert_int_equal(
        count_sentences(&sweep,
                        "the transfer is slow (large: 9 GB/s, not at least 40), and "),
        RUNS);
}

TEST(a_sentence_names_no_rank_that_it_does_not_accuse)
{
    struct sweep sweep = usual(8);
    json_t *verdict = judge(&sweep, 1);

    assert_string_equal(json_get_str(verdict, "answer", ""), "none");
    assert_null(strstr(json_get_str(verdict, "sentence", ""), " on n"));
    json_decref(verdict);
    sweep.slow = "large: 9 GB/s, not at least 40";
    verdict = judge(&sweep, 1);
    assert_string_equal(json_get_str(verdict, "answer", ""), "slow_transfer");
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
                           "rank 2 on n2 is late in 28 of 28 rows: it comes "));
    assert_non_null(strstr(json_get_str(verdict, "sentence", ""),
                           "(clocks agree within 12 us): the host, not the "));
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
