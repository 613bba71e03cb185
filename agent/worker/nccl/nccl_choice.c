/* nccl_choice.c - how NCCL does a row's calls: what it says of the first, untimed one */
#include <string.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "agent/worker/nccl/nccl_profiler.h"
#include "agent/worker/nccl/nccl_setting.h"

/* What is not made of sends and receives. */
static bool has_algorithm(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_BROADCAST ||
           kind == COLLECTIVE_REDUCE;
}

/* NCCL plans the call (2.22 on) and does not make it. All that it would connect for it
 * has been connected by the first. */
static float expected_us(struct backend_comm *comm, const struct backend_call *call)
{
    struct nccl_sim_info info = {.size = sizeof(info),
                                 .magic = NCCL_SIM_INFO_MAGIC,
                                 .version = NCCL_CONFIG_VERSION};

    if (!comm->nccl.call.group_simulate_end || !has_algorithm(call->kind) ||
        comm->world_size == 1 || comm->nccl.call.group_start())
        return 0;
    int called = comm_run(comm, call, NULL);
    nccl_guard_enter(&comm->guard, "ncclGroupSimulateEnd");
    int ended = comm->nccl.call.group_simulate_end(&info);
    nccl_guard_leave(&comm->guard);
    return called || ended || !(info.estimated_us > 0) ? 0 : info.estimated_us;
}

/* Several calls that go as one are chosen for as one, by rules of their own. */
static void predict(const struct backend_comm *comm, const struct backend_call *call,
                    struct choice *out)
{
    const struct nccl_table_call asked = {.kind = call->kind,
                                          .dtype = call->dtype,
                                          .redop = call->redop,
                                          .count = call->count,
                                          .ranks = comm->world_size,
                                          .hosts = comm->hosts,
                                          .capability = comm->capability};

    if (!comm->is_batched)
        nccl_table_predict(&comm->table, &asked, out);
}

/* A prediction has taken the variables into account already. Sends and receives heed
 * neither variable, and symmetric kernels have no protocol. */
static bool is_requested(const struct backend_call *call, const struct choice *choice)
{
    char algo[256], proto[256];

    if (!has_algorithm(call->kind) || !*choice->algo || strcmp(choice->algo, "P2P") == 0)
        return true;
    return choice_is_requested(nccl_setting("NCCL_ALGO", algo, sizeof(algo)), call->kind,
                               choice->algo) &&
           (strcmp(choice->algo, "SYMMETRIC") == 0 || !*choice->proto ||
            choice_is_requested(nccl_setting("NCCL_PROTO", proto, sizeof(proto)),
                                call->kind, choice->proto));
}

void comm_watch(struct backend_comm *comm)
{
    if (comm->nccl.version < NCCL_WITH_CHOICES)
        return;
    /* Symmetric kernels are no events. */
    if (!nccl_profiler_is_used() ||
        comm->options.registration == NCCL_REGISTRATION_SYMMETRIC)
        nccl_tuning_begin(&comm->tuning, comm->nccl.call.reset_debug);
    nccl_profiler_watch();
}

void comm_choice(struct backend_comm *comm, const struct backend_call *call,
                 struct choice *out)
{
    if (comm->nccl.version < NCCL_WITH_CHOICES) {
        predict(comm, call, out);
        return;
    }
    nccl_tuning_end(&comm->tuning, comm->nccl.call.reset_debug, out);
    nccl_profiler_take(out);
    out->is_unrequested = !is_requested(call, out);
    comm->symmetric_rows += strcmp(out->algo, "SYMMETRIC") == 0;
    out->expected_us = expected_us(comm, call);
}
