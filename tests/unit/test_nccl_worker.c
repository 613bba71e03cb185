/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_worker.c - the NCCL worker's processes over emulated libraries */
#include <sys/wait.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);
EACH_FIXTURE(NULL, nccl_end);

TEST(calls_in_groups_and_isolated_ones_are_measured)
{
    nccl_write_case(nccl_quick, "\"agg_iters\":3,\"timing\":\"isolated\",\"check\":2");
    nccl_run("devices=4");
    nccl_assert_all_ok();
    nccl_assert_rows_right(2);
    const json_t *row = json_array_get(nccl.results, 1);
    assert_int_equal(json_get_int(row, "iters", 0), 15);
    assert_int_equal(json_array_size(json_object_get(row, "samples_us")), 5);
}

TEST(each_rank_has_its_own_data_to_reduce)
{
    nccl_write_case(
        "\"collectives\":[\"all_reduce\",\"all_gather\",\"reduce_scatter\"],"
        "\"dtypes\":[\"float32\",\"int8\"],\"redops\":[\"sum\",\"prod\",\"avg\"],"
        "\"in_place\":false,\"sizes\":[4096,65536],\"iters\":3",
        "\"check\":0");
    nccl_run("devices=4,expect_own_data");
    nccl_assert_all_ok();
}

TEST(many_ranks_share_several_ids)
{
    nccl_write_case(nccl_quick, "");
    setenv("RINGBENCH_RANKS_PER_NCCL_ID", "2", 1);
    nccl_run("devices=4");
    unsetenv("RINGBENCH_RANKS_PER_NCCL_ID");
    nccl_assert_all_ok();
    assert_int_equal(json_get_int(nccl.connected[3], "unique_ids", 0), 2);
}

TEST(a_slow_rank_shows)
{
    nccl_write_case(nccl_quick, "");
    nccl_run("devices=4,slow_us@2=4000");
    nccl_assert_all_ok();
    assert_true(json_get_num(json_array_get(nccl.results, 0), "time_us", 0) > 3500);
}

static void check_wrong(const char *emulation)
{
    nccl_write_case(nccl_quick, "");
    nccl_run(emulation);
    nccl_assert_all_ok();
    assert_int_equal(json_get_int(json_array_get(nccl.results, 0), "wrong", -1), 0);
    const json_t *row = json_array_get(nccl.results, 1);
    assert_int_equal(json_get_int(row, "wrong", -1), 1);
    const json_t *error = json_array_get(json_object_get(row, "errors"), 0);
    assert_int_equal(json_get_int(error, "rank", -1), 2);
    assert_int_equal(json_get_int(error, "index", -1), 1234);
    assert_string_not_equal(json_get_str(error, "expected", ""),
                            json_get_str(error, "got", ""));
}

TEST(a_wrong_element_is_named)
{
    check_wrong("devices=4,wrong@2=1234");
    check_wrong("devices=4,wrong@2=1234,no_kernels");
}

static void check_kernels(const char *emulation, bool are_there)
{
    nccl_write_case(nccl_quick, "");
    nccl_run(emulation);
    nccl_assert_all_ok();
    nccl_assert_rows_right(2);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(json_get_bool(nccl.connected[rank], "checks_on_gpu", !are_there),
                         are_there);
}

/* A fatbin of nvcc 13 is nothing to a driver of 12.x. */
TEST(a_driver_older_than_the_kernels_has_them_as_text)
{
    json_t *probe = nccl_probe("devices=4");
    bool are_built = json_get_bool(probe, "checks_on_gpu", false);

    json_decref(probe);
    check_kernels("devices=4,driver=12040,cuda=12040,no_fatbin", are_built);
    check_kernels("devices=4,driver=12080,cuda=12080,no_fatbin,lazy_kernels", are_built);
    check_kernels("devices=4,no_kernels", false);
    check_kernels("devices=4,no_kernels,lazy_kernels", false);
}

/* Of a reduce and a gather, out of place and in place, what rank 1 must not receive. */
static void check_scribble(const char *emulation)
{
    size_t i;
    json_t *row;

    nccl_write_case("\"collectives\":[\"reduce\",\"gather\"],\"dtypes\":[\"int32\"],"
                    "\"redops\":[\"sum\"],\"in_place\":\"both\",\"sizes\":[20000],"
                    "\"iters\":2,\"root\":0",
                    "");
    nccl_run(emulation);
    nccl_assert_all_ok();
    assert_int_equal(json_array_size(nccl.results), 4);
    json_array_foreach (nccl.results, i, row) {
        const json_t *error = json_array_get(json_object_get(row, "errors"), 0);
        assert_int_equal(json_get_int(row, "wrong", -1), 1);
        assert_int_equal(json_get_int(error, "rank", -1), 1);
        assert_int_equal(json_get_int(error, "index", -1), 1234);
    }
}

TEST(what_is_written_where_nothing_is_received_is_found)
{
    check_scribble("devices=4,scribble@1=1234");
    check_scribble("devices=4,scribble@1=1234,no_kernels");
}

TEST(ranks_share_a_gpu_where_nccl_allows_it)
{
    nccl_write_case(nccl_quick, "");
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
    nccl_run("devices=4,same_gpu,nccl=23000");
    unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
    nccl_assert_all_ok();
    assert_int_equal(json_get_int(json_array_get(nccl.results, 0), "ranks_per_gpu", -1),
                     RANKS);
}

TEST(what_cannot_be_is_said_before_nccl_is_asked)
{
    static const struct {
        const char *emulation, *code, *names;
    } cases[] = {
        {"devices=4,no_driver@1", "unsupported",
         "rank 1 on this node: no NVIDIA driver is loaded here"},
        {"devices=4,no_device@2", "unsupported",
         "rank 2 on this node: no GPU is visible to this process"},
        {"devices=3", "unsupported",
         "rank 3 on this node: the local rank is 3, but only 3 GPUs are visible"},
        {"devices=4,nccl@3=22803", "connect",
         "2.28.9 0, 1, 2 (this node); 2.28.3 3 (this node)"},
        {"devices=4,same_gpu", "connect", "0 1 0000:02:00.0 this node (emulated GPU)"},
        {"devices=4,nccl=21700", "unsupported",
         "rank 0 on this node: NCCL: " EMULATED_NCCL
         " has version 2.17.0; 2.18 or newer is needed 3"},
    };

    nccl_write_case(nccl_quick, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        nccl_run(cases[i].emulation);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_mentions(nccl_error_of(rank, "text"), cases[i].names);
            assert_string_equal(nccl_error_of(rank, "code"), cases[i].code);
            assert_int_equal(WEXITSTATUS(nccl.group.workers[rank].status), 1);
        }
        assert_int_equal(json_array_size(nccl.results), 0);
    }
}

/* The rank that fails says why, the others name it. */
static void check_failure(const char *emulation, int culprit, const char *words)
{
    nccl_write_case(nccl_quick, "");
    nccl_run(emulation);
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank == culprit) {
            assert_non_null(strstr(nccl_error_of(rank, "text"), words));
        } else {
            const json_t *error = json_object_get(nccl.done[rank], "error");
            assert_string_equal(nccl_error_of(rank, "code"), "peer_lost");
            assert_int_equal(json_get_int(error, "peer", -1), culprit);
        }
        assert_int_equal(WEXITSTATUS(nccl.group.workers[rank].status), 1);
    }
}

TEST(a_failure_carries_the_librarys_words)
{
    check_failure("devices=4,init_fails@1", 1,
                  "NCCL result 2), its last error: emulated: no socket interface found");
    check_failure("devices=4,async_error@2=3", 2,
                  "NCCL result 6), its last error: emulated: connection closed");
    check_failure("devices=4,gpu_fault@3=9", 3, "unspecified launch failure");
}

static void check_option(const char *option, const char *emulation,
                         const char *registration)
{
    char more[512];

    snprintf(more, sizeof(more), "%s,%s", nccl_plain, option);
    nccl_write_case(nccl_quick, more);
    nccl_run(emulation);
    nccl_assert_all_ok();
    nccl_assert_rows_right(2);
    assert_string_equal(json_get_str(nccl.done[0], "registration", ""), registration);
}

TEST(options_of_nccl_are_heeded)
{
    check_option("\"nccl\":{\"registration\":\"local\"}", "devices=4", "local");
    check_option("\"nccl\":{\"registration\":\"symmetric\",\"cta_policy\":\"zero\"}",
                 "devices=4", "windows");
    /* Up to 2.28 a local registration passes for one. */
    check_option("\"nccl\":{\"registration\":\"symmetric\"}", "devices=4,no_windows",
                 "windows");
    check_option("\"nccl\":{\"stream\":\"null\"}", "devices=4", "none");
}

static void check_refused(const char *option, const char *emulation, const char *code,
                          const char *names)
{
    char more[512];

    snprintf(more, sizeof(more), "%s,%s", nccl_plain, option);
    nccl_write_case(nccl_quick, more);
    nccl_run(emulation);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_string_equal(nccl_error_of(rank, "code"), code);
        assert_mentions(nccl_error_of(rank, "text"), names);
    }
}

TEST(options_that_cannot_be_had_end_the_case)
{
    check_refused("\"nccl\":{\"registration\":\"symmetric\"}",
                  "devices=4,no_windows,nccl=22902", "unsupported",
                  "registration symmetric: NCCL returned no window for the buffers");
    /* 2.27 says no more of memory that a window can't be of. */
    check_refused("\"nccl\":{\"registration\":\"symmetric\"}",
                  "devices=4,no_vmm,nccl=22707", "unsupported",
                  "registration symmetric: window");
    check_refused("\"nccl\":{\"registration\":\"symmetric\"}", "devices=4,no_nccl_memory",
                  "unsupported",
                  "registration symmetric: windows need memory from ncclMemAlloc, which "
                  "failed");
    check_refused("\"nccl\":{\"stream\":\"fast\"}", "devices=4", "bad_case",
                  "/nccl/stream own, null");
    check_refused(
        "\"nccl\":{\"cta_policy\":\"zero\"}", "devices=4,nccl=22707", "unsupported",
        "cta_policy: NCCL 2.27.7 does not support this policy; 2.28 or newer is "
        "needed");
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL_OLD, 1);
    check_refused("\"nccl\":{\"registration\":\"local\"}", "devices=4", "unsupported",
                  "registration local: this NCCL lacks ncclCommRegister");
    check_refused("\"nccl\":{\"cta_policy\":\"efficiency\"}", "devices=4", "unsupported",
                  "cta_policy: NCCL 2.18.5 2.27");
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
}

/* 30 calls of 100 ms, all enqueued at once: what ends is seen to end, once it is known
 * that calls are slow. So is what the host checks. */
TEST(long_work_shows_progress)
{
    nccl_write_case("\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
                    "\"redops\":[\"sum\"],\"in_place\":false,\"iters\":30,\"root\":0,"
                    "\"sizes\":[64,128]",
                    "");
    nccl_run("devices=4,slow_us=100000,no_kernels");
    nccl_assert_all_ok();
    assert_true(nccl.steps >= 3);
    assert_true(nccl.checked > 0); /* the first row's, by the host */
}

/* The first call, the only one to warm up, takes long: no event follows the timed ones.
 */
TEST(a_slow_first_call_marks_no_timed_one)
{
    int tries = 0;

    nccl_write_case(nccl_quick, "\"agg_iters\":1,\"check\":0,\"timing\":\"throughput\","
                                "\"stall_s\":3");
    /* On a busy machine a timed call may be slow by itself. */
    do
        nccl_run("devices=4,slow_once=1,hang_cudaEventRecord=1");
    while (nccl_rank_saying("cudaEventRecord") != -1 && ++tries < 10);
    nccl_assert_all_ok();
}

TEST(a_buffer_that_cannot_be_had_ends_the_case)
{
    int rank;

    nccl_write_case(nccl_quick, "");
    nccl_run("devices=4,oom=10000");
    rank = nccl_rank_saying("2 buffers of 20 KiB: cudaMalloc of a buffer: out of "
                            "memory (CUDA error 2)");
    assert_int_not_equal(rank, -1);
    assert_string_equal(nccl_error_of(rank, "code"), "memory");
}

TEST(a_size_that_does_not_fit_is_skipped)
{
    nccl_write_case("\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
                    "\"redops\":[\"sum\"],\"in_place\":false,\"iters\":5,\"root\":0,"
                    "\"sizes\":[64,33554432]",
                    "");
    nccl_run("devices=4,memory_mib=64");
    nccl_assert_all_ok();
    const char *why = json_get_str(json_array_get(nccl.results, 1), "skipped", "");
    assert_non_null(strstr(why, "needs 2 buffers of 32 MiB per rank"));
    assert_non_null(strstr(why, "GPU's 64 MiB, minus a reserve of 8.0 MiB"));
}

/* NCCL calls it an invalid argument, which would be the end of the case. rows: those that
 * are run, of the collectives and types in order. */
static void check_fp8(const char *emulation, const char *rows, const char *reason)
{
    size_t i;
    json_t *row;

    nccl_write_case("\"collectives\":[\"all_reduce\",\"all_gather\",\"reduce_scatter\","
                    "\"broadcast\",\"reduce\",\"alltoall\"],"
                    "\"dtypes\":[\"int8\",\"float8e4m3\",\"float8e5m2\"],"
                    "\"redops\":[\"max\"],\"in_place\":false,\"sizes\":[6000],"
                    "\"iters\":2,\"root\":0",
                    "");
    nccl_run(emulation);
    nccl_assert_all_ok();
    assert_int_equal(json_array_size(nccl.results), strlen(rows));
    json_array_foreach (nccl.results, i, row) {
        if (rows[i] == '-') {
            assert_mentions(json_get_str(row, "skipped", ""), reason);
        } else {
            assert_null(json_object_get(row, "skipped"));
            assert_int_equal(json_get_int(row, "wrong", -1), 0);
        }
    }
}

TEST(fp8_is_skipped_where_a_gpu_is_too_old)
{
    check_fp8("devices=4,sm@2=80", "x--xxxx--xxxx--xxx",
              "NCCL 2.28.9 reduces fp8 only from compute capability 9.0 rank 2 8.0");
    check_fp8("devices=4,sm=89,nccl=22703", "x--x--x--x--x--xxx",
              "NCCL 2.27.3 supports fp8 only from compute capability 9.0 rank 0 8.9");
    check_fp8("devices=4,sm=100", "xxxxxxxxxxxxxxxxxx", "");
}

TEST(fp8_of_a_single_rank_is_summed_but_not_scaled)
{
    size_t i;
    json_t *row;

    nccl_write_case("\"collectives\":[\"all_reduce\"],"
                    "\"dtypes\":[\"float32\",\"float8e4m3\",\"float8e5m2\"],"
                    "\"redops\":[\"sum\",\"avg\",\"mulsum\"],\"in_place\":false,"
                    "\"sizes\":[6000],\"iters\":2,\"root\":0",
                    "\"split\":{\"by\":\"mod\",\"value\":4}");
    nccl_run("devices=4");
    nccl_assert_all_ok();
    assert_int_equal(json_array_size(nccl.results), RANKS * 9);
    json_array_foreach (nccl.results, i, row) {
        bool is_fp8 = strstr(json_get_str(row, "dtype", ""), "float8") != NULL;
        bool is_sum = strcmp(json_get_str(row, "redop", ""), "sum") == 0;
        const char *why = json_get_str(row, "skipped", "");
        if (is_fp8 && !is_sum)
            assert_mentions(why, "2.28.9 fp8 one");
        else
            assert_string_equal(why, "");
    }
}

/* The other ranks notice the death, and say which rank it was. */
static void check_death(const char *members, const char *emulation, int culprit)
{
    int64_t begun = clock_monotonic_ns();

    nccl_write_case(members, "");
    nccl_run(emulation);
    assert_true(WIFSIGNALED(nccl.group.workers[culprit].status));
    for (int rank = 0; rank < RANKS; rank++) {
        const json_t *error = json_object_get(nccl.done[rank], "error");
        if (rank != culprit) {
            assert_string_equal(nccl_error_of(rank, "code"), "peer_lost");
            assert_int_equal(json_get_int(error, "peer", -1), culprit);
        }
    }
    assert_true(clock_monotonic_ns() - begun < NOTICE_NS);
}

TEST(a_death_in_a_collective_is_noticed)
{
    check_death(nccl_quick, "devices=4,die@2=4", 2);
}

/* The queue holds all 300,000 launches. They take 1 ms or more each, five minutes in
 * total, so the death must be noticed before the last one. */
TEST(a_death_is_noticed_while_calls_are_launched)
{
    check_death("\"collectives\":[\"all_reduce\"],\"dtypes\":[\"float32\"],"
                "\"redops\":[\"sum\"],\"in_place\":false,\"sizes\":[64],"
                "\"iters\":300000,\"root\":0",
                "devices=4,launch_us=1000,die@2=50", 2);
}

/* NCCL itself would wait for ever. */
TEST(a_death_during_init_is_noticed)
{
    nccl_write_case(nccl_quick, "");
    nccl_start("devices=4,init_hangs");
    for (int rank = 0; rank < RANKS; rank++)
        nccl_await_hang(rank);
    int64_t killed_ns = clock_monotonic_ns();
    assert_int_equal(worker_group_signal(&nccl.group, 1, SIGKILL), 0);
    nccl_read();
    for (int rank = 0; rank < RANKS; rank++) {
        if (rank != 1) {
            assert_string_equal(nccl_error_of(rank, "code"), "peer_lost");
            assert_mentions(nccl_error_of(rank, "text"), "rank 1");
            assert_true(nccl.done_ns[rank] - killed_ns < NOTICE_NS);
        }
    }
}

static void stop_all(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(worker_group_signal(&nccl.group, rank, SIGTERM), 0);
}

/* SIGTERM ends every rank, in 5 s and with the same word, also where one hangs (-1: none
 * does). */
static void check_stop(const char *emulation, int hanging)
{
    nccl_write_case(nccl_endless, "");
    nccl_start(emulation);
    nccl_await_progress();
    if (hanging >= 0)
        nccl_await_hang(hanging);
    int64_t stopped_ns = clock_monotonic_ns();
    stop_all();
    nccl_read();
    for (int rank = 0; rank < RANKS; rank++) {
        assert_string_equal(nccl_error_of(rank, "code"), "cancelled");
        assert_true(nccl.done_ns[rank] - stopped_ns < NOTICE_NS);
    }
}

TEST(a_stop_ends_everything)
{
    check_stop("devices=4", -1);
    check_stop("devices=4,init_hangs@1", 1);
    check_stop("devices=4,stall@2=3", 2);
}

/* For when the server, which would notice it, is gone. */
TEST(a_stall_is_given_up_in_the_end)
{
    nccl_write_case(nccl_quick, "\"stall_s\":3,\"agg_iters\":1,\"check\":1,"
                                "\"timing\":\"throughput\"");
    nccl_run("devices=4,stall@2=3");
    int named = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        const char *text = nccl_error_of(rank, "text");
        named += strstr(text, "the GPU has not finished in 11 s") != NULL;
        assert_false(json_get_bool(nccl.done[rank], "ok", true));
    }
    assert_true(named >= 1);
}

static void assert_unavailable(const char *emulation, const char *words)
{
    json_t *answer = nccl_probe(emulation);

    assert_false(json_get_bool(answer, "available", true));
    assert_non_null(strstr(json_get_str(answer, "reason", ""), words));
    assert_int_equal(json_array_size(json_object_get(answer, "devices")), 0);
    json_decref(answer);
}

/* The emulation's own check: a misnumbered fault would leave a test without its fault. */
TEST(a_fault_of_no_rank_ends_the_workers)
{
    nccl_write_case(nccl_quick, "");
    nccl_run("devices=4,die@4");
    for (int rank = 0; rank < RANKS; rank++) {
        assert_non_null(nccl.hello[rank]);
        assert_null(nccl.done[rank]);
    }
}

TEST(the_probe_says_what_is_there)
{
    json_t *answer = nccl_probe("devices=3,memory_mib=512");

    assert_true(json_get_bool(answer, "available", false));
    assert_true(json_get_bool(answer, "emulated", false));
    assert_int_equal(json_array_size(json_object_get(answer, "devices")), 3);
    const json_t *device = json_array_get(json_object_get(answer, "devices"), 2);
    assert_string_equal(json_get_str(device, "name", ""), "emulated GPU");
    assert_string_equal(json_get_str(device, "kind", ""), "gpu");
    assert_int_equal(json_get_int(device, "memory_bytes", 0), 512 << 20);
    assert_int_equal(json_array_size(json_object_get(answer, "dtypes")), 12);
    json_decref(answer);
    answer = nccl_probe("nccl=22300");
    assert_int_equal(json_array_size(json_object_get(answer, "dtypes")), 10);
    json_decref(answer);
}

TEST(the_probe_says_what_is_missing)
{
    assert_unavailable("no_driver", "no NVIDIA driver");
    assert_unavailable("no_device", "no GPU");
    assert_unavailable("nccl=21605", "version 2.16.5; 2.18");
    setenv("RINGBENCH_NCCL_LIB", "/no/such/libnccl.so.2", 1);
    assert_unavailable("devices=1",
                       "NCCL: cannot load the library: /no/such/libnccl.so.2");
    setenv("RINGBENCH_NCCL_LIB", EMULATED_NCCL, 1);
    setenv("RINGBENCH_CUDART_LIB", "/no/such/libcudart.so", 1);
    assert_unavailable("devices=1",
                       "CUDA runtime: cannot load the library: /no/such/libcudart.so");
    setenv("RINGBENCH_CUDART_LIB", EMULATED_CUDART, 1);
}

/* ---- Loading ---- */

/* The others wait for it in the store, until they are told to stop. */
TEST(a_hang_while_cuda_is_loaded_is_told)
{
    nccl_write_case(nccl_endless, "");
    nccl_start("hang_load@1");
    nccl_await_hang(1);
    nccl_await_loading(1);
    assert_non_null(nccl.hello[1]);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(worker_group_signal(&nccl.group, rank, SIGTERM), 0);
    nccl_read();
    assert_string_equal(nccl_error_of(1, "code"), "cancelled");
    assert_mentions(nccl_error_of(1, "text"), "loading CUDA and NCCL");
}

TEST(a_version_is_told_without_the_libraries)
{
    setenv("RINGBENCH_EMULATION", "hang_load", 1);
    assert_int_equal(system("timeout 30 " WORKER_NCCL " --version >/dev/null"), 0);
    assert_int_equal(system("timeout 30 " WORKER_NCCL " --help >/dev/null"), 0);
    setenv("RINGBENCH_EMULATION", "", 1);
}
