/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_laps.c - time back-to-back iterations with CUDA events between them */
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "common/base/memory.h"

int comm_laps_begin(struct backend_comm *comm, long n, struct error *err)
{
    struct nccl_laps *laps = &comm->laps;
    int code = CUDA_SUCCESS_CODE;

    laps->next = 0;
    if (laps->n < n + 1) {
        cuda_event *events = realloc(laps->events, (size_t)(n + 1) * sizeof(*events));
        if (!events)
            memory_out("events of iterations");
        laps->events = events;
    }
    while (!code && laps->n < n + 1) {
        code = comm->cuda.call.event_create(&laps->events[laps->n]);
        laps->n += code == CUDA_SUCCESS_CODE;
    }
    return comm_cuda(comm, code, "cudaEventCreate", err);
}

static int record(struct backend_comm *comm, struct error *err)
{
    cuda_event event = comm->laps.events[comm->laps.next];
    int code = GUARDED(comm->watchdog, "cudaEventRecord",
                       comm->cuda.call.event_record(event, comm->stream));

    return comm_cuda(comm, code, "cudaEventRecord", err);
}

int comm_lap_run(struct backend_comm *comm, const struct backend_call *call,
                 struct error *err)
{
    bool is_first = call->opens_batch || !comm->backlog.is_in_group;

    if (is_first && record(comm, err))
        return -1;
    comm->laps.next += is_first;
    return comm_run(comm, call, err);
}

int comm_lap_wait(struct backend_comm *comm, struct error *err)
{
    return record(comm, err) || comm_wait(comm, err) ? -1 : 0;
}

int comm_lap_us(struct backend_comm *comm, long i, double *us, struct error *err)
{
    const struct nccl_laps *laps = &comm->laps;
    float ms = 0;

    int code =
        comm->cuda.call.event_elapsed_ms(&ms, laps->events[i], laps->events[i + 1]);
    *us = (double)ms * 1e3;
    return comm_cuda(comm, code, "cudaEventElapsedTime", err);
}

void comm_laps_release(struct backend_comm *comm)
{
    for (long i = 0; i < comm->laps.n; i++)
        comm->cuda.call.event_destroy(comm->laps.events[i]);
    free(comm->laps.events);
    memset(&comm->laps, 0, sizeof(comm->laps));
}
