/* SPDX-License-Identifier: Apache-2.0 */
/* test_emulated_graph.c - the emulated CUDA runtime captures as CUDA does: it records,
 * replays, and refuses what must not be done meanwhile */
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/stream.h"
#include "tests/unit/test.h"

#define MODE CUDA_CAPTURE_THREAD_LOCAL_MODE
#define LEN 16

struct place {
    cuda_stream stream;
    void *from, *to;
};

static void wait_for(cuda_stream stream)
{
    int code;

    do {
        sched_yield();
        code = cudaStreamQuery(stream);
    } while (code == CUDA_ERROR_NOT_READY_CODE);
    assert_int_equal(code, CUDA_SUCCESS_CODE);
}

static int set_up(void **state)
{
    static struct place place;

    assert_int_equal(cudaStreamCreateWithFlags(&place.stream, 1), 0);
    assert_int_equal(cudaMalloc(&place.from, LEN), 0);
    assert_int_equal(cudaMalloc(&place.to, LEN), 0);
    memset(place.from, 1, LEN);
    memset(place.to, 0, LEN);
    *state = &place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    cudaFree(place->from);
    cudaFree(place->to);
    return cudaStreamDestroy(place->stream);
}

EACH_FIXTURE(set_up, tear_down);

static int copy(const struct place *place)
{
    return cudaMemcpyAsync(place->to, place->from, LEN, CUDA_MEMCPY_DEFAULT_KIND,
                           place->stream);
}

static atomic_int n_launched;
static int n_at_once; /* launches that returned while the first was running */

static void watch_launches(void *arg)
{
    (void)arg;
    usleep(100000);
    n_at_once = atomic_load(&n_launched);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

TEST(a_launch_waits_while_the_queue_is_full)
{
    static const struct emulated_work slow = {watch_launches, NULL, do_nothing};
    const struct place *place = *state;

    atomic_store(&n_launched, 0);
    assert_int_equal(emulated_stream_enqueue(place->stream, &slow, &n_at_once), 0);
    for (int i = 0; i < 3 * EMULATED_QUEUE_MAX; i++) {
        assert_int_equal(copy(place), 0);
        atomic_fetch_add(&n_launched, 1);
    }
    wait_for(place->stream);
    assert_true(n_at_once <= EMULATED_QUEUE_MAX);
}

static cuda_graph_exec capture_copy(const struct place *place)
{
    cuda_graph graph;
    cuda_graph_exec exec;

    assert_int_equal(cudaStreamBeginCapture(place->stream, MODE), 0);
    assert_int_equal(copy(place), 0);
    assert_int_equal(cudaStreamEndCapture(place->stream, &graph), 0);
    assert_int_equal(cudaGraphInstantiateWithFlags(&exec, graph, 0), 0);
    assert_int_equal(cudaGraphDestroy(graph), 0);
    return exec;
}

TEST(what_is_captured_runs_when_it_is_launched)
{
    struct place *place = *state;
    cuda_graph_exec exec = capture_copy(place);

    wait_for(place->stream);
    assert_int_equal(((char *)place->to)[0], 0);
    for (int value = 2; value < 5; value++) {
        memset(place->from, value, LEN);
        assert_int_equal(cudaGraphLaunch(exec, place->stream), 0);
        wait_for(place->stream);
        assert_int_equal(((char *)place->to)[LEN - 1], value);
    }
    assert_int_equal(cudaGraphExecDestroy(exec), 0);
}

/* Each of these ends the capture without a graph. */
static void check_spoils(const struct place *place, int (*call)(const struct place *))
{
    cuda_graph graph = (cuda_graph)(uintptr_t)1;

    assert_int_equal(cudaStreamBeginCapture(place->stream, MODE), 0);
    assert_int_equal(copy(place), 0);
    assert_int_equal(call(place), CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE);
    assert_int_equal(copy(place), CUDA_ERROR_CAPTURE_INVALIDATED_CODE);
    assert_int_equal(cudaStreamEndCapture(place->stream, &graph),
                     CUDA_ERROR_CAPTURE_INVALIDATED_CODE);
    assert_null(graph);
    assert_int_equal(copy(place), 0);
    wait_for(place->stream);
}

static int query(const struct place *place)
{
    return cudaStreamQuery(place->stream);
}

static int allocate(const struct place *place)
{
    void *memory;

    (void)place;
    return cudaMalloc(&memory, LEN);
}

static int release(const struct place *place)
{
    return cudaFree(place->to);
}

TEST(what_is_forbidden_spoils_the_capture)
{
    check_spoils(*state, query);
    check_spoils(*state, allocate);
    check_spoils(*state, release);
}

TEST(captures_begin_and_end_in_turn)
{
    struct place *place = *state;
    cuda_graph graph;
    cuda_graph_exec exec;

    assert_int_equal(cudaStreamBeginCapture(NULL, MODE),
                     CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE);
    assert_int_equal(cudaStreamEndCapture(place->stream, &graph),
                     CUDA_ERROR_ILLEGAL_STATE_CODE);
    assert_int_equal(cudaStreamBeginCapture(place->stream, MODE), 0);
    assert_int_equal(cudaStreamBeginCapture(place->stream, MODE),
                     CUDA_ERROR_ILLEGAL_STATE_CODE);
    assert_int_equal(cudaStreamEndCapture(place->stream, &graph), 0);
    assert_int_equal(cudaGraphInstantiateWithFlags(&exec, NULL, 0),
                     CUDA_ERROR_INVALID_VALUE_CODE);
    assert_int_equal(cudaGraphDestroy(graph), 0);
}
