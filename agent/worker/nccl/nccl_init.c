/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_init.c - create the NCCL communicator
 *
 * ncclCommInitRank waits for the other ranks without a limit and cannot be cancelled. The
 * watchdog ends the process if a peer is lost, a stop is requested, or the time limit is
 * reached. */
#include <string.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "agent/worker/nccl/nccl_ids.h"
#include "common/base/clock.h"

#define RING_PEERS 2

/* Use the configuration of nccl-tests, except for the name. */
static void configure(const struct backend_comm *comm, struct nccl_config *config)
{
    /* Leave the policy unset unless the spec sets it, so that NCCL_CTA_POLICY applies. */
    bool has_policy = json_object_get(comm->options.given, "cta_policy") != NULL;
    int version = comm->nccl.version;
    bool is_newer = version >= NCCL_WITH_P2P_PEERS;

    memset(config, 0, sizeof(*config));
    config->size = is_newer ? sizeof(*config) : NCCL_CONFIG_BYTES;
    config->magic = NCCL_CONFIG_MAGIC;
    config->version = is_newer ? NCCL_WITH_P2P_PEERS : NCCL_CONFIG_VERSION;
    config->blocking = 1;
    config->cga_cluster_size = config->min_ctas = config->max_ctas = NCCL_CONFIG_UNSET;
    config->split_share = config->traffic_class = NCCL_CONFIG_UNSET;
    config->comm_name = "ringbench";
    config->collnet_enable = NCCL_CONFIG_UNSET;
    config->cta_policy = has_policy ? comm->options.cta_policy : NCCL_CONFIG_UNSET;
    config->shrink_share = config->nvls_ctas = NCCL_CONFIG_UNSET;
    config->n_channels_per_net_peer = NCCL_CONFIG_UNSET;
    config->nvlink_centric_sched =
        version >= NCCL_WITH_NVLINK_SCHED ? 1 : NCCL_CONFIG_UNSET;
    config->graph_usage_mode = config->num_rma_ctx = NCCL_CONFIG_UNSET;
    config->graph_stream_ordering = NCCL_CONFIG_UNSET;
    config->max_p2p_peers = comm->is_ring ? RING_PEERS : NCCL_CONFIG_UNSET;
}

/* Refuse a policy that this NCCL does not support. Older versions ignore an unknown
 * policy or report an invalid argument. */
static int check_policy(const struct backend_comm *comm, struct error *err)
{
    int policy = comm->options.cta_policy, version = comm->nccl.version;
    char text[NCCL_VERSION_TEXT_MAX];

    if (policy <= 0 || version >= (policy == 1 ? 22700 : 22800))
        return 0;
    return error_set(
        err, ERROR_UNSUPPORTED,
        "cta_policy: NCCL %s does not support this policy; 2.%d or newer is needed",
        nccl_version_text(version, text), policy == 1 ? 27 : 28);
}

int comm_init(struct backend_comm *comm, const struct nccl_id *ids, int n_ids,
              int64_t timeout_ms, struct error *err)
{
    const struct nccl_functions *call = &comm->nccl.call;
    int64_t begun = clock_monotonic_ns();
    struct nccl_config config;
    struct nccl_id all[NCCL_IDS_MAX];
    nccl_comm formed = NULL;
    int result;

    if (check_policy(comm, err))
        return -1;
    configure(comm, &config);
    memcpy(all, ids, (size_t)n_ids * sizeof(*ids));
    watchdog_set_limit(comm->watchdog, timeout_ms * 1000000);
    watchdog_enter(comm->watchdog, "ncclCommInitRank");
    if (n_ids > 1)
        result = call->init_rank_scalable(&formed, comm->world_size, comm->rank, n_ids,
                                          all, &config);
    else
        result = call->init_rank(&formed, comm->world_size, all[0], comm->rank, &config);
    watchdog_leave(comm->watchdog);
    watchdog_set_limit(comm->watchdog, comm->give_up_ns);
    if (result)
        return comm_nccl(comm, result, "forming the communicator", err);
    comm->comm = formed;
    nccl_forget_error(&comm->nccl, formed);
    comm->init_s = (double)(clock_monotonic_ns() - begun) / 1e9;
    return 0;
}
