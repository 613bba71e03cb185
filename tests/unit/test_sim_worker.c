/* SPDX-License-Identifier: Apache-2.0 */
/* test_sim_worker.c - simulated workers as processes: rows, noise, faults */
#include <sys/wait.h>

#include "common/base/json_util.h"
#include "bench/worker_group.h"
#include "tests/unit/case_fixture.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#define RANKS 4
#define QUIET_MS 60000

struct seen {
    json_t *results;
    json_t *hello[RANKS], *connected[RANKS], *done[RANKS];
};

static const char collectives[] = "[\"all_reduce\",\"all_gather\",\"reduce_scatter\","
                                  "\"broadcast\",\"reduce\",\"alltoall\",\"gather\","
                                  "\"scatter\",\"sendrecv\"]";

/* members: of the case, in place of these. */
static void write_case(const char *kinds, const char *members)
{
    char text[2048], more[512];

    snprintf(text, sizeof(text),
             "{\"run\":\"r\",\"case\":0,\"attempt\":1,\"backend\":\"sim\","
             "\"world_size\":%d,\"collectives\":%s,\"dtypes\":[\"float32\"],"
             "\"placed\":[[\"a\",2],[\"b\",2]],"
             "\"redops\":[\"sum\"],\"root\":1,\"in_place\":\"both\",\"warmup\":1,"
             "\"agg_iters\":1,\"check\":1,\"seed\":7}",
             RANKS, kinds);
    snprintf(more, sizeof(more), "{%s}", members);
    json_t *json = json_parse(text, strlen(text), NULL);
    json_t *object = json_parse(more, strlen(more), NULL);
    assert_non_null(json);
    assert_int_equal(json_object_update(json, object), 0);
    json_decref(object);
    case_write(json);
}

static void note(void *arg, int rank, const char *line, size_t len)
{
    struct seen *seen = arg;
    json_t *event = json_parse(line, len, NULL);
    const char *type = json_get_str(event, "type", "");

    assert_non_null(event);
    if (strcmp(type, "result") == 0)
        json_array_append(seen->results, event);
    else if (strcmp(type, "hello") == 0)
        seen->hello[rank] = json_incref(event);
    else if (strcmp(type, "done") == 0)
        seen->done[rank] = json_incref(event);
    else if (strcmp(json_get_str(event, "phase", ""), "connected") == 0)
        seen->connected[rank] = json_incref(event);
    json_decref(event);
}

static void release(struct seen *seen)
{
    json_decref(seen->results);
    for (int rank = 0; rank < RANKS; rank++) {
        json_decref(seen->hello[rank]);
        json_decref(seen->connected[rank]);
        json_decref(seen->done[rank]);
    }
}

static void run_case(struct seen *seen)
{
    struct worker_group group;

    memset(seen, 0, sizeof(*seen));
    seen->results = json_array();
    assert_int_equal(worker_group_start(&group, WORKER_SIM, case_path, RANKS, 0), 0);
    assert_int_equal(worker_group_read(&group, QUIET_MS, NULL, note, seen), 0);
    worker_group_end(&group);
}

/* Run it, and expect it to end well. */
static void run_well(struct seen *seen)
{
    run_case(seen);
    for (int rank = 0; rank < RANKS; rank++) {
        if (!json_get_bool(seen->done[rank], "ok", false)) {
            char *text = json_text(seen->done[rank]);
            fail_msg("rank %d: %s", rank, text);
        }
    }
}

static const json_t *row(const struct seen *seen, size_t i)
{
    return json_array_get(seen->results, i);
}

static double time_of(const json_t *row, size_t rank)
{
    return json_number_value(json_array_get(json_object_get(row, "times_us"), rank));
}

static int set_up(void **state)
{
    (void)state;
    setenv("RINGBENCH_ALLOW_FAULTS", "1", 1);
    setenv("SIM_SLEEP_FRACTION", "0", 1);
    unsetenv("SIM_NOISE");
    unsetenv("SIM_SEED");
    unsetenv("SIM_SLOW");
    unsetenv("SIM_TYPO");
    return 0;
}

TEST(every_collective_is_simulated_and_not_checked)
{
    struct seen seen;

    write_case(collectives, "\"sizes\":[64,1000000],\"iters\":3,\"timing\":\"isolated\"");
    run_well(&seen);
    assert_int_equal(json_array_size(seen.results), 9 * 4);
    for (size_t i = 0; i < json_array_size(seen.results); i++) {
        const json_t *result = row(&seen, i);
        assert_true(json_get_bool(result, "simulated", false));
        assert_true(json_is_null(json_object_get(result, "wrong")));
        assert_true(json_get_num(result, "time_us", 0) > 1);
        assert_int_equal(json_array_size(json_object_get(result, "samples_us")), 3);
        const json_t *choice = json_object_get(result, "nccl");
        assert_string_equal(json_get_str(choice, "by", ""), "model");
        assert_non_null(json_object_get(choice, "algo"));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        assert_true(json_get_bool(seen.hello[rank], "simulated", false));
        assert_true(json_get_bool(seen.connected[rank], "simulated", false));
        assert_string_equal(json_get_str(seen.connected[rank], "transport", ""),
                            "simulated");
    }
    release(&seen);
}

TEST(without_noise_a_row_is_the_model)
{
    struct seen seen;

    setenv("SIM_NOISE", "0", 1);
    write_case("[\"all_gather\"]", "\"sizes\":[48000000],\"iters\":5");
    run_well(&seen);
    /* 3 steps; 3/4 of 4.8e7 bytes at 48 GB/s. */
    for (size_t rank = 0; rank < RANKS; rank++)
        assert_near(time_of(row(&seen, 0), rank), 8 + 3 * 2 + 750, 0.01);
    release(&seen);
}

TEST(the_same_seed_makes_the_same_rows)
{
    struct seen first, second, third;

    write_case(collectives, "\"sizes\":[8,4096,1000000],\"iters\":4");
    run_well(&first);
    run_well(&second);
    assert_true(json_equal(first.results, second.results));
    setenv("SIM_SEED", "8", 1);
    run_well(&third);
    assert_false(json_equal(first.results, third.results));
    release(&second);
    run_well(&second);
    assert_true(json_equal(second.results, third.results));
    release(&first);
    release(&second);
    release(&third);
}

/* log(time) of 400 calls, of which each is its own sample. */
TEST(noise_has_the_size_asked_for)
{
    struct seen seen;
    double sum = 0, squares = 0;
    int n = 400;

    setenv("SIM_NOISE", "0.1", 1);
    write_case("[\"broadcast\"]",
               "\"sizes\":[1000000],\"iters\":400,\"timing\":\"isolated\",\"check\":0");
    run_well(&seen);
    const json_t *samples = json_object_get(row(&seen, 0), "samples_us");
    assert_int_equal(json_array_size(samples), n);
    for (int i = 0; i < n; i++) {
        double value = log(json_number_value(json_array_get(samples, (size_t)i)));
        sum += value;
        squares += value * value;
    }
    double sigma = sqrt(squares / n - sum / n * (sum / n));
    /* Four standard errors; the ranks' own part (a quarter) adds a little. */
    assert_near(sigma, 0.1, 0.1 * 4 / sqrt(2.0 * n));
    release(&seen);
}

TEST(a_slow_node_shows)
{
    struct seen healthy, slow;

    setenv("SIM_NOISE", "0", 1);
    write_case("[\"all_reduce\",\"sendrecv\"]", "\"sizes\":[100000000],\"iters\":3");
    run_well(&healthy);
    setenv("SIM_SLOW", "b:0.25,elsewhere:0.1", 1);
    run_well(&slow);
    for (size_t rank = 0; rank < RANKS; rank++) {
        double ratio = time_of(row(&slow, 0), rank) / time_of(row(&healthy, 0), rank);
        assert_true(ratio > 3.8 && ratio < 4); /* all wait for it */
    }
    release(&healthy);
    release(&slow);
}

TEST(a_late_rank_makes_the_others_wait)
{
    struct seen seen;

    setenv("SIM_NOISE", "0", 1);
    write_case("[\"all_reduce\"]", "\"sizes\":[1000000],\"iters\":3,\"timing\":"
                                   "\"isolated\",\"fault\":{\"kind\":\"slow\",\"rank\":2,"
                                   "\"us\":5000}");
    run_well(&seen);
    for (size_t rank = 0; rank < RANKS; rank++) {
        double us = time_of(row(&seen, 0), rank);
        assert_true(rank == 2 ? us < 1000 : us > 5000);
    }
    release(&seen);
    write_case("[\"all_reduce\"]", "\"sizes\":[1000000],\"iters\":3,\"agg_iters\":5,"
                                   "\"fault\":{\"kind\":\"slow\",\"rank\":2,"
                                   "\"us\":5000}");
    run_well(&seen);
    for (size_t rank = 0; rank < RANKS; rank++) {
        double us = time_of(row(&seen, 0), rank);
        assert_true(us > 1000 && us < 1500); /* once in five calls */
    }
    release(&seen);
}

TEST(a_death_is_blamed_on_the_dead)
{
    struct seen seen;

    for (int dead = 0; dead < RANKS; dead += 3) {
        char fault[200];
        snprintf(fault, sizeof(fault),
                 "\"sizes\":[8,64],\"iters\":2,"
                 "\"fault\":{\"kind\":\"die\",\"rank\":%d,\"row\":1}",
                 dead);
        write_case("[\"all_reduce\"]", fault);
        run_case(&seen);
        for (int rank = 0; rank < RANKS; rank++) {
            const json_t *error = json_object_get(seen.done[rank], "error");
            if (rank == dead) {
                assert_null(seen.done[rank]);
                continue;
            }
            assert_string_equal(json_get_str(error, "code", ""), "peer_lost");
            assert_int_equal(json_get_int(error, "peer", -1), dead);
        }
        release(&seen);
    }
}

TEST(a_variable_that_is_not_known_ends_the_case)
{
    struct seen seen;

    setenv("SIM_TYPO", "1", 1);
    write_case("[\"all_reduce\"]", "\"sizes\":[8],\"iters\":2");
    run_case(&seen);
    for (int rank = 0; rank < RANKS; rank++) {
        const json_t *error = json_object_get(seen.done[rank], "error");
        assert_string_equal(json_get_str(error, "code", ""), "bad_case");
        assert_mentions(json_get_str(error, "text", ""), "SIM_TYPO");
    }
    release(&seen);
}

TEST(what_does_not_fit_is_skipped)
{
    struct seen seen;

    write_case("[\"all_reduce\"]", "\"sizes\":[\"40G\",\"41G\"],\"iters\":2");
    run_well(&seen);
    assert_null(json_object_get(row(&seen, 0), "skipped"));
    assert_mentions(json_get_str(row(&seen, 2), "skipped", ""), "41 80 simulated");
    assert_true(json_get_bool(row(&seen, 2), "simulated", false));
    release(&seen);
}

static long count_of(const json_t *row, const char *key)
{
    return (long)json_array_size(json_object_get(row, key));
}

static double mean_of_ranks(const json_t *row)
{
    double sum = 0;

    for (size_t rank = 0; rank < RANKS; rank++)
        sum += time_of(row, rank) / RANKS;
    return sum;
}

TEST(a_quiet_row_has_the_least_blocks)
{
    struct seen seen;

    setenv("SIM_NOISE", "0", 1);
    write_case("[\"all_gather\"]", "\"sizes\":[64,50000000]");
    run_well(&seen);
    for (size_t i = 0; i < 4; i++) {
        const json_t *result = row(&seen, i);
        double us = json_get_num(result, "time_us", 0);
        long iters = (long)json_get_int(result, "iters", 0);
        assert_int_equal(json_get_int(result, "blocks", 0), 8);
        assert_near(json_get_num(result, "time_low_us", 0), us, 0.01);
        assert_near(json_get_num(result, "time_high_us", 0), us, 0.01);
        assert_near(mean_of_ranks(result), us, 1e-6 * us);
        assert_null(json_object_get(result, "noisy"));
        /* Blocks of 2 ms, as near as whole calls come, but of 20 calls at least. */
        assert_int_equal(iters % 8, 0);
        if (us < 100)
            assert_in_range((long)((double)iters / 8 * us), 2000, 2000 + (long)us + 1);
        else
            assert_int_equal(iters / 8, 20);
    }
    release(&seen);
}

TEST(a_noisy_row_has_more_and_says_so)
{
    struct seen seen, again;

    setenv("SIM_NOISE", "0.4", 1);
    write_case("[\"all_reduce\"]",
               "\"sizes\":[50000000],\"samples\":{\"max\":40,\"max_s\":60}");
    run_well(&seen);
    const json_t *result = row(&seen, 0);
    double us = json_get_num(result, "time_us", 0);
    double low = json_get_num(result, "time_low_us", 0);
    double high = json_get_num(result, "time_high_us", 0);
    assert_int_equal(json_get_int(result, "blocks", 0), 40);
    assert_true(json_get_bool(result, "noisy", false));
    assert_true(low < us && us < high && (high - low) / 2 > 0.02 * us);
    assert_true(json_get_num(result, "time_p5_us", 0) < low);
    assert_true(json_get_num(result, "time_p95_us", 0) > high);
    assert_near(mean_of_ranks(result), us, 1e-6 * us);
    assert_true(json_get_num(result, "time_min_us", 0) < us);
    assert_true(json_get_num(result, "time_max_us", 0) > us);
    run_well(&again);
    assert_true(json_equal(seen.results, again.results));
    release(&again);
    release(&seen);
    /* Time ends it too, by the model's clock: 8 blocks of 2 calls of 1 ms. */
    write_case("[\"all_reduce\"]", "\"sizes\":[50000000],\"samples\":{\"max_s\":0.001}");
    run_well(&seen);
    assert_int_equal(json_get_int(row(&seen, 0), "blocks", 0), 8);
    assert_true(json_get_bool(row(&seen, 0), "noisy", false));
    release(&seen);
}

/* Each way of timing has its own blocks. */
TEST(blocks_are_what_the_timing_makes_of_them)
{
    struct seen seen;

    write_case("[\"all_reduce\"]", "\"sizes\":[64],\"timing\":\"isolated\"");
    run_well(&seen);
    long blocks = (long)json_get_int(row(&seen, 0), "blocks", 0);
    assert_true(blocks >= 8);
    assert_int_equal(json_get_int(row(&seen, 0), "iters", 0), blocks);
    assert_int_equal(count_of(row(&seen, 0), "samples_us"), blocks);
    release(&seen);
    write_case("[\"all_reduce\"]", "\"sizes\":[64],\"per_iter\":true");
    run_well(&seen);
    blocks = (long)json_get_int(row(&seen, 0), "blocks", 0);
    assert_int_equal(json_get_int(row(&seen, 0), "iters", 0), 20 * blocks);
    assert_int_equal(count_of(row(&seen, 0), "samples_us"), 20 * blocks);
    release(&seen);
    write_case("[\"all_reduce\"]", "\"sizes\":[64],\"agg_iters\":7,\"blocking\":3");
    run_well(&seen);
    blocks = (long)json_get_int(row(&seen, 0), "blocks", 0);
    assert_int_equal(json_get_int(row(&seen, 0), "iters", 0) % (7 * blocks), 0);
    release(&seen);
}

/* Groups wait for the one that needs most, and not for one whose row can't be run. */
TEST(groups_have_as_many_blocks_as_each_other)
{
    struct seen seen;

    setenv("SIM_NOISE", "0.2", 1);
    write_case("[\"hypercube\"]",
               "\"sizes\":[50000000],\"root\":0,\"samples\":{\"max\":20},"
               "\"split\":{\"by\":\"div\",\"value\":3}");
    run_well(&seen); /* ranks 0 to 2, and 3 alone */
    assert_non_null(json_object_get(row(&seen, 0), "skipped"));
    assert_true(json_get_int(row(&seen, 1), "blocks", 0) >= 8);
    release(&seen);
    write_case("[\"all_reduce\"]",
               "\"sizes\":[50000000],\"root\":0,\"samples\":{\"max\":20},"
               "\"split\":\"local_rank\"");
    run_well(&seen);
    assert_int_equal(json_get_int(row(&seen, 0), "blocks", 0),
                     json_get_int(row(&seen, 1), "blocks", 1));
    release(&seen);
}

TEST(a_number_of_calls_has_no_blocks)
{
    struct seen seen;

    write_case("[\"all_reduce\"]", "\"sizes\":[64],\"iters\":20");
    run_well(&seen);
    assert_int_equal(json_get_int(row(&seen, 0), "iters", 0), 20);
    assert_null(json_object_get(row(&seen, 0), "blocks"));
    assert_null(json_object_get(row(&seen, 0), "time_low_us"));
    release(&seen);
}

GROUP_FIXTURE(make_case_file, remove_case_file);
EACH_FIXTURE(set_up, NULL);
