/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_choice.c - record NCCL's algorithm for a row. NCCL's profiler interface (2.23 or
 * later) reports it during the first, untimed call. */
#include <string.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "agent/worker/nccl/nccl_profiler.h"
#include "agent/worker/nccl/nccl_setting.h"

/* Only these collectives have an algorithm. The others consist of sends and receives. */
static bool has_algorithm(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_BROADCAST ||
           kind == COLLECTIVE_REDUCE;
}

/* NCCL_ALGO and NCCL_PROTO do not apply to sends and receives. */
static bool is_requested(const struct backend_call *call, const struct choice *choice)
{
    char algo[256], proto[256];

    if (!has_algorithm(call->kind) || !*choice->algo || strcmp(choice->algo, "P2P") == 0)
        return true;
    return choice_is_requested(nccl_setting("NCCL_ALGO", algo, sizeof(algo)), call->kind,
                               choice->algo) &&
           (!*choice->proto ||
            choice_is_requested(nccl_setting("NCCL_PROTO", proto, sizeof(proto)),
                                call->kind, choice->proto));
}

void comm_watch(struct backend_comm *comm)
{
    (void)comm;
    nccl_profiler_watch();
}

void comm_choice(struct backend_comm *comm, const struct backend_call *call,
                 struct choice *out)
{
    nccl_profiler_finish(out);
    out->is_unrequested = !is_requested(call, out);
    if (has_algorithm(call->kind)) {
        comm->has_plain_row = comm->has_plain_row || *out->algo;
        comm->has_unknown_row = comm->has_unknown_row || !*out->algo;
    }
}
