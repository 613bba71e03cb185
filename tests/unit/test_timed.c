/* SPDX-License-Identifier: Apache-2.0 */
/* test_timed.c - what is called between two readings of the clock, and in which order */
#include "test.h"

#include <string.h>
#include <time.h>

#include "agent/worker/bench/timed.h"
#include "common/base/clock.h"

#define WAIT_US 2000

/* Takes note of what is called: r run, w wait, b barrier, ( and ) a batch. */
struct backend_comm {
    char log[128];
    size_t n;
    uint64_t begun[32]; /* what the progress said in each run */
    size_t runs;
    size_t send_at[32], recv_at[32];
    struct progress *progress;
    const char *send;
    char *recv;
    int fails_at; /* run that fails, from 1; 0: none */
    atomic_int *stop;
    size_t stops_at; /* run in which it is told to stop */
};

static void note(struct backend_comm *comm, char what)
{
    assert_true(comm->n + 1 < sizeof(comm->log));
    comm->log[comm->n++] = what;
}

static int run(struct backend_comm *comm, const struct backend_call *call,
               struct error *err)
{
    if (call->opens_batch)
        note(comm, '(');
    note(comm, 'r');
    if (call->closes_batch)
        note(comm, ')');
    comm->begun[comm->runs] = comm->progress->begun;
    comm->send_at[comm->runs] = (size_t)((const char *)call->send - comm->send);
    comm->recv_at[comm->runs] = (size_t)((char *)call->recv - comm->recv);
    comm->runs++;
    if (comm->runs == comm->stops_at)
        atomic_store(comm->stop, 1);
    return (int)comm->runs == comm->fails_at ? error_set(err, ERROR_INTERNAL, "fails")
                                             : 0;
}

static void pass_time(void)
{
    struct timespec time = {.tv_nsec = WAIT_US * 1000};

    nanosleep(&time, NULL);
}

static int wait_for(struct backend_comm *comm, struct error *err)
{
    (void)err;
    note(comm, 'w');
    pass_time();
    return 0;
}

/* The tree is the communicator in disguise. */
static int barrier(struct tree *tree, struct error *err)
{
    struct backend_comm *comm = (struct backend_comm *)(void *)tree;

    (void)err;
    note(comm, 'b');
    assert_true(comm->progress->is_waiting);
    pass_time();
    return 0;
}

struct setup {
    struct backend_comm comm;
    struct progress progress;
    struct timed timed;
    atomic_int stop;
    char send[64], recv[64];
};

static struct setup *make(long iters, long batch)
{
    static struct setup setup;

    memset(&setup, 0, sizeof(setup));
    setup.comm.progress = &setup.progress;
    setup.comm.send = setup.send;
    setup.comm.recv = setup.recv;
    setup.comm.stop = &setup.stop;
    setup.timed = (struct timed){.calls = {run, wait_for, &setup.comm, barrier,
                                           (struct tree *)(void *)&setup.comm},
                                 .comm = &setup.comm,
                                 .send = setup.send,
                                 .recv = setup.recv,
                                 .places = 3,
                                 .place_bytes = 16,
                                 .iters = iters,
                                 .batch = batch,
                                 .operations = 1,
                                 .is_async = true,
                                 .progress = &setup.progress,
                                 .stop = &setup.stop};
    return &setup;
}

/* Two calls. untimed: waits and barriers that do not count. */
static const char *time_blocking(enum blocking blocking, int timed, int untimed)
{
    struct setup *setup = make(2, 1);
    int64_t start = clock_monotonic_ns();
    struct timed_ns ns;

    setup->timed.blocking = blocking;
    assert_int_equal(timed_blocking(&setup->timed, &ns, NULL), 0);
    assert_true(ns.total_ns >= timed * WAIT_US * 1000);
    assert_true(clock_monotonic_ns() - start - ns.total_ns >= untimed * WAIT_US * 1000);
    assert_true(ns.enqueue_ns >= 0 && ns.enqueue_ns <= ns.total_ns - 2 * WAIT_US * 1000);
    assert_int_equal(setup->progress.finished, 2);
    return setup->comm.log;
}

TEST(calls_back_to_back_are_waited_for_once)
{
    struct setup *setup = make(3, 1);
    struct timed_ns ns;

    assert_int_equal(timed_back_to_back(&setup->timed, &ns, NULL), 0);
    assert_string_equal(setup->comm.log, "brrrw");
    assert_true(ns.enqueue_ns <= ns.total_ns - WAIT_US * 1000);
    assert_int_equal(setup->progress.begun, 3);
    assert_int_equal(setup->progress.finished, 3);
    assert_false(setup->progress.is_waiting);
}

TEST(blocking_calls_have_the_barriers_of_their_kind)
{
    assert_string_equal(time_blocking(BLOCKING_WAIT, 2, 1), "brwrw");
    assert_string_equal(time_blocking(BLOCKING_WAIT_BARRIER, 4, 1), "brwbrwb");
    assert_string_equal(time_blocking(BLOCKING_EACH_ITERATION, 2, 3), "brwbrwb");
}

TEST(an_isolated_call_comes_behind_a_barrier)
{
    struct setup *setup = make(1, 1);
    struct arrival arrival;
    struct timed_ns ns;
    int64_t before = clock_monotonic_ns();

    assert_int_equal(timed_isolated(&setup->timed, &ns, &arrival, NULL), 0);
    assert_string_equal(setup->comm.log, "brw");
    assert_true(before <= arrival.in_ns && arrival.in_ns <= arrival.out_ns &&
                arrival.out_ns <= arrival.came_ns);
    assert_true(ns.total_ns >= WAIT_US * 1000);
}

TEST(a_batch_is_submitted_as_one)
{
    struct setup *setup = make(2, 3);
    struct timed_ns ns;

    assert_int_equal(timed_back_to_back(&setup->timed, &ns, NULL), 0);
    assert_string_equal(setup->comm.log, "b(rrr)(rrr)w");
    assert_int_equal(setup->progress.begun, 6);
}

TEST(calls_take_one_place_after_another)
{
    static const size_t places[] = {0, 16, 32, 0, 16};
    struct setup *setup = make(5, 1);
    struct timed_ns ns;

    assert_int_equal(timed_back_to_back(&setup->timed, &ns, NULL), 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(setup->comm.send_at[i], places[i]);
        assert_int_equal(setup->comm.recv_at[i], places[i]);
    }
}

TEST(an_operation_counts_as_begun_while_it_is_called)
{
    struct setup *setup = make(2, 1);
    struct timed_ns ns;

    setup->timed.operations = 5;
    assert_int_equal(timed_back_to_back(&setup->timed, &ns, NULL), 0);
    assert_int_equal(setup->comm.begun[0], 5);
    assert_int_equal(setup->comm.begun[1], 10);
}

TEST(the_times_of_each_add_up)
{
    struct setup *setup = make(4, 1);
    int64_t each_ns[4], sum = 0;
    struct timed_ns ns;

    setup->timed.each_ns = each_ns;
    setup->timed.blocking = BLOCKING_WAIT;
    assert_int_equal(timed_blocking(&setup->timed, &ns, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_true(each_ns[i] >= WAIT_US * 1000);
        sum += each_ns[i];
    }
    assert_int_equal(sum, ns.total_ns);
    setup = make(4, 1);
    setup->timed.each_ns = each_ns;
    sum = 0;
    assert_int_equal(timed_back_to_back(&setup->timed, &ns, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        sum += each_ns[i];
    assert_true(sum > 0 && sum <= ns.enqueue_ns);
}

TEST(a_failure_and_a_stop_end_the_calls)
{
    struct setup *setup = make(9, 1);
    struct error err = {0};
    struct timed_ns ns;

    setup->comm.fails_at = 3;
    assert_int_equal(timed_back_to_back(&setup->timed, &ns, &err), -1);
    assert_string_equal(setup->comm.log, "brrr");
    setup = make(9, 1);
    setup->comm.stops_at = 2;
    assert_int_equal(timed_back_to_back(&setup->timed, &ns, &err), -1);
    assert_int_equal(err.code, ERROR_UNAVAILABLE);
    assert_string_equal(setup->comm.log, "brr");
}
