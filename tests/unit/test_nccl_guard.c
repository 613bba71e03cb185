/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_guard.c - calls that do not return, over the NCCL worker's processes and
 * emulated libraries */
#include <sys/wait.h>

#include "common/base/json_util.h"
#include "tests/unit/mentions.h"
#include "tests/unit/nccl_fixture.h"
#include "tests/unit/test.h"

GROUP_FIXTURE(nccl_set_up, nccl_tear_down);
EACH_FIXTURE(NULL, nccl_end);

/* The time that the error says a call has lasted; -1: none. */
static double seconds_after(int rank, const char *words)
{
    const char *at = strstr(nccl_error_of(rank, "text"), words);
    double seconds;
    int end = 0;

    return at && sscanf(at + strlen(words), " %lf s%n", &seconds, &end) == 1 && end > 0
               ? seconds
               : -1;
}

/* Settings for all ranks but rank 1. */
#define BUT_ONE(setting) setting "@0," setting "@2," setting "@3"

static void check_death(const char *emulation, const char *names)
{
    nccl_write_case(nccl_endless, "");
    nccl_start(emulation);
    nccl_await_hang(0);
    assert_int_equal(worker_group_signal(&nccl.group, 1, SIGKILL), 0);
    nccl_read();
    for (int rank = 0; rank < RANKS; rank += rank == 0 ? 2 : 1) {
        const json_t *error = json_object_get(nccl.done[rank], "error");
        assert_string_equal(nccl_error_of(rank, "code"), "peer_lost");
        assert_int_equal(json_get_int(error, "peer", -1), 1);
        assert_int_equal(WEXITSTATUS(nccl.group.workers[rank].status), 1);
    }
    assert_mentions(nccl_error_of(0, "text"), names);
    assert_true(seconds_after(0, "still waits for that rank after") > 0);
}

TEST(a_death_is_noticed_inside_of_cuda)
{
    check_death("devices=4," BUT_ONE("hang_cudaMemcpyAsync"), "CUDA (cudaMemcpyAsync)");
    check_death("devices=4," BUT_ONE("hang_cudaMalloc"), "CUDA (cudaMalloc)");
    check_death("devices=4," BUT_ONE("hang_cudaStreamQuery"), "CUDA (cudaStreamQuery)");
    check_death("devices=4,hang_cudaSetDevice@0", "CUDA (cudaSetDevice)");
}

TEST(a_stop_ends_a_call_that_hangs)
{
    static const struct {
        const char *emulation, *names; /* in rank 2's error */
    } cases[] = {{"devices=4,group_hangs@2=3", "stopped while inside NCCL (all_reduce)"},
                 {"devices=4,hang_cudaMemcpyAsync@2", "CUDA (cudaMemcpyAsync)"},
                 {"devices=4,hang_cudaSetDevice@2", "CUDA (cudaSetDevice)"},
                 {"devices=4,hang_cudaStreamQuery", "CUDA (cudaStreamQuery)"}};

    nccl_write_case(nccl_endless, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        nccl_start(cases[i].emulation);
        nccl_await_hang(2);
        for (int rank = 0; rank < RANKS; rank++)
            assert_int_equal(worker_group_signal(&nccl.group, rank, SIGTERM), 0);
        nccl_read();
        for (int rank = 0; rank < RANKS; rank++)
            assert_string_equal(nccl_error_of(rank, "code"), "cancelled");
        assert_mentions(nccl_error_of(2, "text"), cases[i].names);
        assert_true(seconds_after(2, ") for") > 0);
    }
}

/* What a rank still has to free when the others are through is its own matter. */
TEST(a_call_that_never_returns_is_named_at_the_end_too)
{
    char how[256];

    snprintf(how, sizeof(how), "%s,\"stall_s\":3", nccl_plain);
    nccl_write_case(nccl_quick, how);
    nccl_run("devices=4,hang_cudaFree@2=4");
    assert_string_equal(nccl_error_of(2, "code"), "internal");
    assert_string_equal(nccl_error_of(2, "text"),
                        "CUDA (cudaFree) has not returned in 5 s");
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(json_get_bool(nccl.done[rank], "ok", false), rank != 2);
}

/* All is measured by then. */
TEST(a_communicator_that_is_not_destroyed_spoils_nothing)
{
    nccl_write_case(nccl_quick, "");
    nccl_run("devices=4,destroy_hangs@2");
    nccl_assert_all_ok();
}

/* Rank 0 notices the death in its wait, and inside of a call. */
TEST(what_nccl_said_last_is_told_with_every_loss)
{
    static const char *const cases[] = {"devices=4,warn=2,die@1=3",
                                        "devices=4,warn=2,die@1=3,group_hangs@0=4"};

    nccl_write_case(nccl_endless, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        nccl_run(cases[i]);
        assert_string_equal(nccl_error_of(0, "code"), "peer_lost");
        assert_non_null(strstr(nccl_error_of(0, "text"),
                               "NCCL's last error: emulated: connection reset by peer"));
    }
}
