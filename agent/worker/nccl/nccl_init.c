/* nccl_init.c - calls to NCCL that may not return, on threads of their own */
#include "agent/worker/nccl/nccl_init.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/worker/base/thread.h"
#include "agent/worker/nccl/nccl_ids.h"
#include "common/base/clock.h"
#include "common/base/log.h"

#define POLL_NS 200000
#define RING_PEERS 2
#define REMARK_NS 10000000000 /* of init, before the log says that it goes on */

struct nccl_init {
    const struct cuda_lib *cuda;
    const struct nccl_lib *nccl;
    int device, rank, world_size, n_ids, cta_policy;
    bool is_ring; /* each rank sends to one and receives from one, always */
    struct nccl_id ids[NCCL_IDS_MAX];
    nccl_comm comm;
    int cuda_code, result;
    atomic_bool is_done;
    pthread_t thread;
};

static void nap(void)
{
    struct timespec time = {.tv_nsec = POLL_NS};

    nanosleep(&time, NULL);
}

/* As nccl-tests configures it, but for the name. */
static void configure(const struct nccl_init *init, struct nccl_config *config)
{
    int version = init->nccl->version, cta_policy = init->cta_policy;
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
    config->cta_policy = cta_policy < 0 ? NCCL_CONFIG_UNSET : cta_policy;
    config->shrink_share = config->nvls_ctas = NCCL_CONFIG_UNSET;
    config->n_channels_per_net_peer = NCCL_CONFIG_UNSET;
    config->nvlink_centric_sched =
        version >= NCCL_WITH_NVLINK_SCHED ? 1 : NCCL_CONFIG_UNSET;
    config->graph_usage_mode = config->num_rma_ctx = NCCL_CONFIG_UNSET;
    config->graph_stream_ordering = NCCL_CONFIG_UNSET;
    config->max_p2p_peers = init->is_ring ? RING_PEERS : NCCL_CONFIG_UNSET;
}

static void *init_thread(void *arg)
{
    struct nccl_init *init = arg;
    struct nccl_config config;

    configure(init, &config);
    init->cuda_code = init->cuda->call.set_device(init->device);
    if (init->cuda_code) {
        init->result = NCCL_RESULT_CUDA;
    } else if (init->n_ids > 1) {
        init->result = init->nccl->call.init_rank_scalable(
            &init->comm, init->world_size, init->rank, init->n_ids, init->ids, &config);
    } else {
        init->result = init->nccl->call.init_rank(&init->comm, init->world_size,
                                                  init->ids[0], init->rank, &config);
    }
    atomic_store_explicit(&init->is_done, true, memory_order_release);
    return NULL;
}

static bool is_done(atomic_bool *flag)
{
    return atomic_load_explicit(flag, memory_order_acquire);
}

/* The log is where a slow init is looked for. */
static void remark(const struct backend_comm *comm)
{
    char last[NCCL_LAST_ERROR_MAX];

    log_warn("NCCL has not formed its communicator in %lld s%s",
             (long long)(REMARK_NS / 1000000000),
             nccl_last_error(&comm->nccl, NULL, last));
}

static int wait_for_init(struct backend_comm *comm, int64_t deadline_ns,
                         struct error *err)
{
    int64_t remark_ns = clock_monotonic_ns() + REMARK_NS;

    while (!is_done(&comm->init->is_done)) {
        if (watch_check(&comm->mesh->watch))
            return comm_lost(comm, err);
        int64_t now = clock_monotonic_ns();
        if (now > remark_ns) {
            remark_ns = INT64_MAX;
            remark(comm);
        }
        if (now > deadline_ns) {
            char last[NCCL_LAST_ERROR_MAX];
            return error_set(err, ERROR_TIMEOUT,
                             "NCCL did not form its communicator in time%s",
                             nccl_last_error(&comm->nccl, NULL, last));
        }
        nap();
    }
    return 0;
}

/* Older ones ignore what they do not know, or call it an invalid argument. */
static int check_policy(const struct backend_comm *comm, struct error *err)
{
    int policy = comm->options.cta_policy, version = comm->nccl.version;
    char text[NCCL_VERSION_TEXT_MAX];

    if (policy <= 0 || version >= (policy == 1 ? 22700 : 22800))
        return 0;
    return error_set(
        err, ERROR_UNSUPPORTED,
        "cta_policy: NCCL %s does not have this one, 2.%d or newer is needed",
        nccl_version_text(version, text), policy == 1 ? 27 : 28);
}

int nccl_init_run(struct backend_comm *comm, const struct nccl_id *ids, int n_ids,
                  int64_t timeout_ms, struct error *err)
{
    int64_t begun = clock_monotonic_ns();

    if (check_policy(comm, err))
        return -1;
    struct nccl_init *init = calloc(1, sizeof(*init));
    if (!init)
        return error_set(err, ERROR_MEMORY, "communicator: out of memory");
    /* Where nobody asked, NCCL decides: what is unset, its variables may set. */
    bool has_policy = json_object_get(comm->options.given, "cta_policy") != NULL;
    *init = (struct nccl_init){.cuda = &comm->cuda,
                               .nccl = &comm->nccl,
                               .device = comm->device,
                               .rank = comm->rank,
                               .world_size = comm->world_size,
                               .n_ids = n_ids,
                               .is_ring = comm->is_ring,
                               .cta_policy = has_policy ? comm->options.cta_policy : -1};
    memcpy(init->ids, ids, (size_t)n_ids * sizeof(*ids));
    if (thread_start(&init->thread, THREAD_CALL_PREFIX "init", init_thread, init)) {
        free(init);
        return error_set(err, ERROR_IO, "communicator: can't start a thread");
    }
    comm->init = init;
    if (wait_for_init(comm, begun + timeout_ms * 1000000, err))
        return -1;
    pthread_join(init->thread, NULL);
    comm->init = NULL;
    comm->comm = init->comm;
    comm->init_s = (double)(clock_monotonic_ns() - begun) / 1e9;
    int cuda_code = init->cuda_code, result = init->result;
    free(init);
    if (cuda_code)
        return comm_cuda(comm, cuda_code, "cudaSetDevice", err);
    return comm_nccl(comm, result, "forming the communicator", err);
}

struct ending {
    int (*end)(nccl_comm);
    int (*set_device)(int);
    nccl_comm comm;
    int device;
    atomic_bool is_done;
};

static void *end_thread(void *arg)
{
    struct ending *ending = arg;

    ending->set_device(ending->device);
    ending->end(ending->comm);
    atomic_store_explicit(&ending->is_done, true, memory_order_release);
    return NULL;
}

int nccl_end(struct backend_comm *comm, bool is_abort, int64_t timeout_ms)
{
    struct ending *ending = calloc(1, sizeof(*ending));
    int64_t deadline = clock_monotonic_ns() + timeout_ms * 1000000;
    pthread_t thread;

    if (!ending)
        return -1;
    ending->end = is_abort ? comm->nccl.call.abort : comm->nccl.call.destroy;
    ending->set_device = comm->cuda.call.set_device;
    ending->comm = comm->comm;
    ending->device = comm->device;
    if (thread_start(&thread, THREAD_CALL_PREFIX "end", end_thread, ending)) {
        free(ending);
        return -1;
    }
    while (!is_done(&ending->is_done)) {
        if (clock_monotonic_ns() > deadline) {
            pthread_detach(thread); /* stuck: *ending stays its own */
            return -1;
        }
        nap();
    }
    pthread_join(thread, NULL);
    free(ending);
    comm->comm = NULL;
    return 0;
}
