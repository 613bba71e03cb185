/* SPDX-License-Identifier: Apache-2.0 */
/* host_comm.c - helpers of all host collectives */
#include "agent/worker/host/host_comm.h"

size_t host_send_bytes(const struct backend_comm *comm, const struct backend_call *call)
{
    size_t bytes = call->count * dtype_size(call->dtype);

    /* The size selects the algorithm, so it must be the same on all ranks. */
    if (call->traffic)
        return call->traffic->most * dtype_size(call->dtype);
    bool is_wide = call->kind == COLLECTIVE_REDUCE_SCATTER ||
                   call->kind == COLLECTIVE_ALLTOALL || call->kind == COLLECTIVE_SCATTER;

    return is_wide ? bytes * (size_t)comm->links->world_size : bytes;
}

void host_scale(const struct backend_comm *comm, enum dtype type, int rank, void *out,
                const void *in, size_t count)
{
    unsigned char scalar[8];

    pattern_scalar(type, rank, scalar);
    comm->kernels->scale[type](out, in, count, scalar);
}
