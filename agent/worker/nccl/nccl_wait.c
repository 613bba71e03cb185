/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_wait.c - wait for the GPU, and count the calls that have finished meanwhile */
#include <sched.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "common/base/clock.h"

#define CHECK_NS 2000000 /* interval between checks of the peers */
#define CLOCK_POLLS 64   /* polls between readings of the clock */
#define YIELDS_SPARED 32 /* number of yields to replace with naps after a long yield */
#define SLOW_NS 20000000 /* calls that take longer are marked with events */

static int check_peers(struct backend_comm *comm, int64_t begun_ns, int64_t now_ns,
                       struct error *err)
{
    if (watch_check(&comm->tree->watch))
        return comm_lost(comm, err);
    if (comm->give_up_ns && now_ns - begun_ns > comm->give_up_ns) {
        char last[NCCL_LAST_ERROR_MAX];
        return error_set(
            err, ERROR_TIMEOUT,
            "the GPU has not finished in %.0f s, and NCCL reports no error%s",
            (double)comm->give_up_ns / 1e9,
            nccl_last_error(&comm->nccl, comm->comm, last));
    }
    return 0;
}

static int check_async(struct backend_comm *comm, struct error *err)
{
    int state = NCCL_RESULT_SUCCESS;

    if (!comm->comm)
        return 0;
    int result = comm->nccl.call.async_error(comm->comm, &state);
    result = result ? result : state;
    if (result == NCCL_RESULT_SUCCESS || result == NCCL_RESULT_IN_PROGRESS)
        return 0;
    return comm_nccl(comm, result, "during a collective", err);
}

/* Remove the marks that the GPU has passed. Return true if there were any. */
static bool remove_passed(struct backend_comm *comm)
{
    struct nccl_backlog *backlog = &comm->backlog;
    bool has_passed = false;

    while (backlog->n_marks > 0) {
        const struct nccl_mark *mark = &backlog->marks[backlog->first];
        if (comm->cuda.call.event_query(mark->event) != CUDA_SUCCESS_CODE)
            break;
        if (backlog->finished) {
            atomic_fetch_add_explicit(backlog->finished, mark->calls,
                                      memory_order_relaxed);
        }
        backlog->first = (backlog->first + 1) % NCCL_MARKS;
        backlog->n_marks--;
        has_passed = true;
    }
    return has_passed;
}

/* A rank with its own core polls without a pause, as nccl-tests does. Ranks that share
 * cores, mostly those of emulated GPUs, must release the core to the ranks that they wait
 * for. */
static void pass_time(struct backend_comm *comm, bool is_long)
{
    struct watch *watch = &comm->tree->watch;

    if (!watch->is_crowded)
        sched_yield();
    else if (is_long || !watch_yield(&watch->spared, YIELDS_SPARED))
        watch_nap();
}

/* Wait until the stream is idle or, with `until_room`, until the GPU passes a mark. */
static int wait_loop(struct backend_comm *comm, bool until_room, struct error *err)
{
    int64_t begun = 0, checked = 0;

    for (unsigned polls = 1;; polls++) {
        int code = GUARDED(comm->watchdog, "cudaStreamQuery",
                           comm->cuda.call.stream_query(comm->stream));
        if (code == CUDA_SUCCESS_CODE)
            return 0;
        if (code != CUDA_ERROR_NOT_READY_CODE)
            return comm_cuda(comm, code, "on the GPU's stream", err);
        if (check_async(comm, err))
            return -1;
        if (polls % CLOCK_POLLS == 0) {
            int64_t now = clock_monotonic_ns();
            begun = begun ? begun : now;
            if (now - checked > CHECK_NS) {
                checked = now;
                if (check_peers(comm, begun, now, err))
                    return -1;
                if (remove_passed(comm)) {
                    begun = now;
                    if (until_room)
                        return 0;
                }
            }
        }
        pass_time(comm, begun && checked - begun >= CHECK_NS);
    }
}

int comm_wait(struct backend_comm *comm, struct error *err)
{
    struct nccl_backlog *backlog = &comm->backlog;

    if (wait_loop(comm, false, err))
        return -1;
    backlog->n_marks = 0;
    if (backlog->calls > 0) {
        int64_t took = clock_monotonic_ns() - backlog->begun_ns;
        bool is_slow = took / (int64_t)backlog->calls > SLOW_NS;
        backlog->is_slow = is_slow && backlog->was_slow;
        backlog->was_slow = is_slow;
    }
    backlog->calls = backlog->unmarked = 0;
    return 0;
}

int backlog_mark(struct backend_comm *comm, struct error *err)
{
    struct nccl_backlog *backlog = &comm->backlog;

    if (!backlog->is_slow || backlog->unmarked == 0 || comm->graph.is_capturing)
        return 0;
    /* The GPU has enough pending work, so waiting here does not delay it. */
    if (backlog->n_marks == NCCL_MARKS && wait_loop(comm, true, err))
        return -1;
    if (backlog->n_marks == NCCL_MARKS)
        remove_passed(comm);
    unsigned at = (backlog->first + backlog->n_marks) % NCCL_MARKS;
    struct nccl_mark *mark = &backlog->marks[at];
    int code =
        mark->event ? CUDA_SUCCESS_CODE : comm->cuda.call.event_create(&mark->event);
    if (!code) {
        code = GUARDED(comm->watchdog, "cudaEventRecord",
                       comm->cuda.call.event_record(mark->event, comm->stream));
    }
    mark->calls = backlog->unmarked;
    backlog->unmarked = 0;
    backlog->n_marks++;
    return comm_cuda(comm, code, "cudaEventRecord", err);
}

/* The first call of a kind may be slow because NCCL connects its ranks. Therefore calls
 * count as slow and get events only after two slow waits in a row. */
void backlog_begin(struct backend_comm *comm, enum collective_kind kind)
{
    struct nccl_backlog *backlog = &comm->backlog;

    if (kind != backlog->kind)
        backlog->is_slow = backlog->was_slow = false;
    backlog->kind = kind;
}

int backlog_add(struct backend_comm *comm, uint64_t calls, struct error *err)
{
    struct nccl_backlog *backlog = &comm->backlog;

    if (comm->graph.is_capturing) {
        comm->graph.calls += calls;
        return 0;
    }
    if (backlog->calls == 0)
        backlog->begun_ns = clock_monotonic_ns();
    backlog->calls += calls;
    backlog->unmarked += calls;
    /* Check for a loss here. If all calls fit into the stream, nothing else checks for
     * one. */
    if (watch_check(&comm->tree->watch))
        return comm_lost(comm, err);
    return backlog->is_in_group ? 0 : backlog_mark(comm, err);
}

void backlog_release(struct backend_comm *comm)
{
    for (int i = 0; i < NCCL_MARKS; i++)
        if (comm->backlog.marks[i].event)
            comm->cuda.call.event_destroy(comm->backlog.marks[i].event);
}
