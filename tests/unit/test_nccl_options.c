/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_options.c - what shapes the timed loop, over the NCCL worker's processes and
 * emulated libraries */
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);
EACH_FIXTURE(NULL, nccl_end);

/* Much longer than what a busy machine adds to a call. */
#define SLOW_US 100000

static const char one_size[] =
    "\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],\"redops\":[\"sum\"],"
    "\"in_place\":\"both\",\"sizes\":[20000],\"iters\":2,\"root\":0";

/* Every collective and two kinds of reduction, so that each call is captured once. */
static const char all_kinds[] =
    "\"collectives\":[\"all_reduce\",\"all_gather\",\"reduce_scatter\",\"broadcast\","
    "\"reduce\",\"alltoall\",\"gather\",\"scatter\",\"sendrecv\"],"
    "\"dtypes\":[\"float32\",\"int8\"],\"redops\":[\"sum\",\"mulsum\"],"
    "\"in_place\":\"both\",\"sizes\":[6000],\"iters\":3,\"root\":0";

static const char how_format[] =
    "\"agg_iters\":%d,\"check\":%d,\"timing\":\"throughput\",%s";

static void run_case(const char *members, int agg_iters, const char *more,
                     const char *emulation)
{
    char how[512];

    snprintf(how, sizeof(how), how_format, agg_iters, 2, more);
    nccl_write_case(members, how);
    nccl_run(emulation);
}

static void check_option(const char *members, const char *more, const char *emulation,
                         size_t rows)
{
    run_case(members, 1, more, emulation);
    nccl_assert_all_ok();
    nccl_assert_rows_right(rows);
}

static void check_unexpected(const char *more, const char *emulation, const char *words)
{
    run_case(one_size, 1, more, emulation);
    assert_int_not_equal(nccl_rank_saying(words), -1);
}

/* The emulation refuses what is not as asked; both ways, so that it can be seen to. */
TEST(what_is_asked_of_nccl_is_what_it_gets)
{
    check_option(one_size, "\"nccl\":{\"cta_policy\":\"zero\"}", "devices=4,expect_cta=2",
                 2);
    check_unexpected("\"nccl\":{}", "devices=4,expect_cta=2", "another CTA policy");
    check_option(one_size, "\"nccl\":{\"stream\":\"null\"}",
                 "devices=4,expect_null_stream", 2);
    check_unexpected("\"nccl\":{}", "devices=4,expect_null_stream", "the null stream");
    check_option(all_kinds, "\"nccl\":{\"registration\":\"local\"}",
                 "devices=4,expect_registered", 48);
    check_option(all_kinds, "\"nccl\":{\"registration\":\"symmetric\"}",
                 "devices=4,expect_registered", 48);
    check_unexpected("\"nccl\":{}", "devices=4,expect_registered", "registered buffers");
}

/* As nccl-tests' program for sendrecv, and no other of its programs. */
TEST(a_ring_of_sends_has_two_peers)
{
    static const char ring[] =
        "\"collectives\":[\"sendrecv\"],\"dtypes\":[\"float32\"],\"in_place\":false,"
        "\"sizes\":[20000],\"iters\":2,\"root\":0";

    check_option(ring, "\"nccl\":{}", "devices=4,nccl=23004,expect_peers=2", 1);
    check_option(ring, "\"nccl\":{}", "devices=4,expect_peers=-1", 1);
    check_option(one_size, "\"nccl\":{}", "devices=4,nccl=23004,expect_peers=-1", 2);
}

TEST(buffers_lie_unaligned)
{
    check_option(one_size, "\"unalign\":3", "devices=4,expect_shift=12", 2);
    check_option(one_size, "\"unalign\":3,\"nccl\":{\"registration\":\"symmetric\"}",
                 "devices=4,expect_shift=12,expect_registered", 2);
    check_option(all_kinds, "\"unalign\":1", "devices=4", 48);
    check_option(all_kinds, "\"unalign\":1", "devices=4,no_kernels", 48);
    check_unexpected("\"unalign\":0", "devices=4,expect_shift=12", "another alignment");
}

TEST(graphs_are_captured_and_launched)
{
    check_option(all_kinds, "\"nccl\":{\"graph\":3}", "devices=4", 48);
    check_option(all_kinds, "\"nccl\":{\"graph\":1,\"registration\":\"symmetric\"}",
                 "devices=4,expect_registered", 48);
    run_case(one_size, 3, "\"nccl\":{\"graph\":2}", "devices=4,slow_us=3000");
    nccl_assert_all_ok();
    nccl_assert_rows_right(2);
    const json_t *row = json_array_get(nccl.results, 0);
    assert_int_equal(json_get_int(row, "iters", 0), 2 * 3 * 2);
    assert_true(json_get_num(row, "time_us", 0) >= 3000);
    assert_true(json_get_num(row, "enqueue_us", 1e9) < 1500);
}

/* 1 call to warm up, 2 * 3 launched for the time, 1 launched in each of 2 checks: what
 * the graphs hold runs as often as it should, and no more. */
TEST(a_launch_runs_every_call)
{
    static const char once[] =
        "\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
        "\"redops\":[\"sum\"],\"in_place\":false,\"sizes\":[20000],\"iters\":2,"
        "\"root\":0";

    run_case(once, 1, "\"nccl\":{\"graph\":3}", "devices=4,die@2=9");
    assert_true(WIFSIGNALED(nccl.group.workers[2].status));
    assert_int_equal(json_array_size(nccl.results), 0);
    run_case(once, 1, "\"nccl\":{\"graph\":3}", "devices=4,die@2=10");
    nccl_assert_all_ok();
}

TEST(a_wrong_element_in_a_graph_is_found)
{
    run_case(one_size, 1, "\"nccl\":{\"graph\":2}", "devices=4,wrong@1=77");
    nccl_assert_all_ok();
    const json_t *row = json_array_get(nccl.results, 0);
    /* Two passes were asked for, and the first one is wrong: the count is of that. */
    assert_int_equal(json_get_int(row, "wrong", 0), 1);
    assert_int_equal(json_array_size(json_object_get(row, "errors")), 1);
}

TEST(what_cannot_be_captured_is_refused)
{
    check_unexpected("\"nccl\":{\"graph\":1,\"stream\":\"null\"}", "devices=4",
                     "case: /nccl/graph");
}

/* A broadcast's root need not wait for a rank that is slow to take what it sent, as long
 * as there is room for it. */
static double root_time_us(const char *more, int size)
{
    char members[512], settings[64];

    snprintf(members, sizeof(members),
             "\"collectives\":[\"broadcast\"],\"dtypes\":[\"float32\"],"
             "\"redops\":[\"sum\"],\"in_place\":false,\"sizes\":[%d],\"iters\":6,"
             "\"root\":0",
             size);
    snprintf(settings, sizeof(settings), "devices=4,slow_us@2=%d", SLOW_US);
    run_case(members, 1, more, settings);
    nccl_assert_all_ok();
    const json_t *row = json_array_get(nccl.results, 0);
    assert_true(json_get_num(row, "enqueue_us", 1e9) < SLOW_US * 0.9);
    double us = json_number_value(json_array_get(json_object_get(row, "times_us"), 0));
    return us;
}

/* Once in three times: a machine that is busy can make any call slow. */
static bool root_can_run_ahead(const char *more, int size)
{
    bool can = false;

    for (int i = 0; i < 3 && !can; i++)
        can = root_time_us(more, size) < SLOW_US / 2.0;
    return can;
}

TEST(blocking_waits_and_has_barriers_as_asked)
{
    /* Wait and barrier: the barrier is in the time. */
    assert_true(root_time_us("\"blocking\":1", 64) > SLOW_US * 0.9);
    /* Wait only: the root runs ahead of the slow rank, until there is no room. */
    assert_true(root_can_run_ahead("\"blocking\":2", 64));
    assert_true(root_time_us("\"blocking\":2", 20000) > SLOW_US / 2.0);
    /* A barrier outside the time: there is always room. */
    assert_true(root_can_run_ahead("\"blocking\":3", 20000));
}

TEST(cycles_repeat_all_rows_with_one_communicator)
{
    run_case(nccl_quick, 1, "\"cycles\":3", "devices=4");
    nccl_assert_all_ok();
    nccl_assert_rows_right(6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *row = json_array_get(nccl.results, i);
        assert_int_equal(json_get_int(row, "row", -1), i);
        assert_int_equal(json_get_int(row, "cycle", -1), i / 2);
        assert_int_equal(json_get_int(row, "series", -1), 0);
        assert_int_equal(json_get_int(row, "size", 0), i % 2 ? 20000 : 64);
    }
}

/* One slow iteration shows as one sample, where the mean hides it; calls stay back to
 * back. The emulation is slow at one rank's 4th operation: 1 to warm up, then the 3rd of
 * the timed ones. */
TEST(iterations_are_timed_back_to_back)
{
    static const char calls[] =
        "\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
        "\"redops\":[\"sum\"],\"in_place\":false,\"sizes\":[20000],\"iters\":6,"
        "\"root\":0";
    static const int blocking[] = {0, 2};

    for (size_t k = 0; k < sizeof(blocking) / sizeof(blocking[0]); k++) {
        char more[64];

        snprintf(more, sizeof(more), "\"per_iter\":true,\"blocking\":%d", blocking[k]);
        run_case(calls, 1, more, "devices=4,slow_once@2=4");
        nccl_assert_all_ok();
        const json_t *row = json_array_get(nccl.results, 0);
        const json_t *samples = json_object_get(row, "samples_us");
        assert_int_equal(json_array_size(samples), 6);
        for (size_t i = 0; i < 6; i++) {
            double us = json_number_value(json_array_get(samples, i));
            assert_true(i == 2 ? us >= 100000 : us > 0);
        }
    }
}

/* NCCL itself would wait for ever, and no thread looks but the guard. */
static void check_death_inside(const char *more, const char *emulation, const char *call)
{
    char how[512];

    snprintf(how, sizeof(how), how_format, 1, 1, more);
    nccl_write_case(one_size, how);
    nccl_start(emulation);
    for (int rank = 0; rank < RANKS; rank += rank == 0 ? 2 : 1)
        nccl_await_hang(rank);
    assert_int_equal(worker_group_signal(&nccl.group, 1, SIGKILL), 0);
    int64_t killed_ns = clock_monotonic_ns();
    nccl_read();
    for (int rank = 0; rank < RANKS; rank++) {
        const json_t *error = json_object_get(nccl.done[rank], "error");
        if (rank == 1)
            continue;
        assert_string_equal(nccl_error_of(rank, "code"), "peer_lost");
        assert_int_equal(json_get_int(error, "peer", -1), 1);
        assert_mentions(nccl_error_of(rank, "text"), "rank 1: NCCL");
        assert_mentions(nccl_error_of(rank, "text"), call);
        assert_true(nccl.done_ns[rank] - killed_ns < NOTICE_NS);
        assert_int_equal(WEXITSTATUS(nccl.group.workers[rank].status), 1);
    }
}

TEST(a_death_is_noticed_inside_of_nccl)
{
    check_death_inside("\"nccl\":{}",
                       "devices=4,group_hangs@0=2,group_hangs@2=2,group_hangs@3=2",
                       "(all_reduce)");
    check_death_inside("\"nccl\":{\"registration\":\"local\"}",
                       "devices=4,register_hangs@0,register_hangs@2,register_hangs@3",
                       "(ncclCommRegister)");
    check_death_inside("\"nccl\":{\"registration\":\"symmetric\"}",
                       "devices=4,register_hangs@0,register_hangs@2,register_hangs@3",
                       "(ncclCommWindowRegister)");
}

TEST(a_death_is_noticed_at_the_end_of_a_group)
{
    char how[512];

    snprintf(how, sizeof(how), how_format, 3, 1, "\"nccl\":{}");
    nccl_write_case(one_size, how);
    nccl_start("devices=4,group_hangs@0=2");
    nccl_await_hang(0);
    assert_int_equal(worker_group_signal(&nccl.group, 1, SIGKILL), 0);
    nccl_read();
    assert_non_null(strstr(nccl_error_of(0, "text"), "(ncclGroupEnd)"));
}

/* For when the server, which would notice the stall, is gone. */
TEST(a_call_that_never_returns_is_given_up)
{
    run_case(one_size, 1, "\"stall_s\":3", "devices=4,group_hangs=2");
    int named = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        named += mentions(nccl_error_of(rank, "text"), "NCCL (all_reduce) 11 s");
        assert_false(json_get_bool(nccl.done[rank], "ok", true));
    }
    assert_true(named >= 1);
}

/* One rank takes 3 s to read its counters, at the beginning or in the end. */
TEST(counters_are_read_outside_of_the_time)
{
    static const char *const emulations[] = {"devices=4,slow_links@1=1",
                                             "devices=4,slow_links@1=2"};

    setenv("RINGBENCH_NVML_LIB", EMULATED_NVML, 1);
    nccl_write_case("\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
                    "\"redops\":[\"sum\"],\"in_place\":false,\"sizes\":[1048576],"
                    "\"root\":0,\"iters\":1,\"timing\":\"throughput\"",
                    "\"check\":0");
    for (size_t i = 0; i < sizeof(emulations) / sizeof(emulations[0]); i++) {
        double time_us = 1e9;

        /* A busy machine may interrupt a call for seconds, but not each of three. */
        for (int tries = 0; tries < 3 && time_us > 2.5e6; tries++) {
            nccl_run(emulations[i]);
            nccl_assert_all_ok();
            time_us = json_get_num(json_array_get(nccl.results, 0), "time_max_us", 1e9);
        }
        assert_true(time_us < 2.5e6);
        for (int rank = 0; rank < 2; rank++)
            assert_int_equal(json_get_int(nccl.done[rank], "nvlink_bytes", 0), 1 << 20);
    }
    unsetenv("RINGBENCH_NVML_LIB");
}

TEST(memory_that_was_taken_is_told)
{
    run_case(one_size, 1, "\"nccl\":{}", "devices=4,init_mib=5");
    nccl_assert_all_ok();
    for (int rank = 0; rank < RANKS; rank++) {
        json_t *begin = json_object_get(nccl.connected[rank], "gpu_memory");
        json_t *end = json_object_get(nccl.done[rank], "gpu_memory");
        int64_t init = json_get_int(begin, "init_bytes", 0);
        int64_t buffers = json_get_int(end, "buffer_bytes", 0);
        assert_true(init >= 5 << 20 && init < 6 << 20);
        assert_int_equal(json_get_int(end, "init_bytes", 0), init);
        /* ncclMemAlloc gives pieces of 2 MiB. */
        assert_true(buffers >= 4 << 20 && buffers < 5 << 20);
        assert_int_equal(json_get_int(end, "end_bytes", 0), init + buffers);
    }
}
