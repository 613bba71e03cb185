/* SPDX-License-Identifier: Apache-2.0 */
/* backend_nccl.c - the NCCL backend: collectives over GPU memory */
#include "agent/worker/nccl/backend_nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/worker/bench/case_file.h"
#include "agent/worker/nccl/nccl_comm.h"
#include "agent/worker/nccl/nccl_ids.h"
#include "agent/worker/nccl/nccl_probe.h"
#include "agent/worker/nccl/nccl_setting.h"
#include "agent/worker/nccl/reach.h"
#include "common/base/log.h"
#include "common/base/memory.h"

#define END_MS 5000 /* time limit of ncclCommDestroy, in ms */

/* extra time per rank, because a call may have to connect ranks first */
#define CONNECT_MS 100

/* Allowed error of ncclAvg, which rounds 1/n, each of two products with 1/n, and their
 * sum. */
#define AVG_ULPS 3

static void release_device(struct backend_comm *comm)
{
    if (comm->stream) {
        GUARDED(comm->watchdog, "cudaStreamDestroy",
                comm->cuda.call.stream_destroy(comm->stream));
    }
    backlog_release(comm);
    comm_laps_release(comm);
}

/* Choose the device that the run names, or the device numbered by the local rank. */
static int choose_device(struct backend_comm *comm, int local_rank, struct error *err)
{
    const char *chosen = getenv("RINGBENCH_DEVICE");
    int count;

    if (GUARDED(comm->watchdog, "cudaGetDeviceCount",
                nccl_probe_devices(&comm->cuda, &count, err)))
        return -1;
    if (chosen && atoi(chosen) >= count) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "the run selects device %s, but only %d GPU%s visible", chosen,
                         count, count == 1 ? " is" : "s are");
    }
    local_rank = chosen ? atoi(chosen) : local_rank;
    if (local_rank >= count) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "the local rank is %d, but only %d GPU%s visible", local_rank,
                         count, count == 1 ? " is" : "s are");
    }
    comm->device = local_rank;
    int code =
        GUARDED(comm->watchdog, "cudaSetDevice", comm->cuda.call.set_device(local_rank));
    return comm_cuda(comm, code, "cudaSetDevice", err);
}

static int describe_device(struct backend_comm *comm, struct error *err)
{
    struct nccl_identity *identity = &comm->identity;
    struct cuda_properties properties;
    int major = 0, minor = 0;

    memset(&properties, 0, sizeof(properties));
    int code = comm->cuda.call.properties(&properties, comm->device);
    if (!code) {
        code = comm->cuda.call.pci_bus_id(identity->bus_id, sizeof(identity->bus_id),
                                          comm->device);
    }
    if (!code) {
        code = comm->cuda.call.attribute(&major, CUDA_ATTRIBUTE_CAPABILITY_MAJOR,
                                         comm->device);
    }
    if (!code) {
        code = comm->cuda.call.attribute(&minor, CUDA_ATTRIBUTE_CAPABILITY_MINOR,
                                         comm->device);
    }
    identity->capability = 10 * major + minor;
    memcpy(identity->uuid, properties.uuid, sizeof(identity->uuid));
    snprintf(identity->device_name, sizeof(identity->device_name), "%s", properties.name);
    return comm_cuda(comm, code, "reading the GPU's properties", err);
}

static int set_up_device(struct backend_comm *comm, int local_rank, struct error *err)
{
    const struct cuda_functions *call = &comm->cuda.call;

    if (choose_device(comm, local_rank, err) || describe_device(comm, err))
        return -1;
    int code = CUDA_SUCCESS_CODE;
    if (comm->options.stream != NCCL_STREAM_NULL) {
        code = GUARDED(comm->watchdog, "cudaStreamCreate",
                       call->stream_create(&comm->stream, CUDA_STREAM_NON_BLOCKING_FLAG));
    }
    return comm_cuda(comm, code, "setting up the GPU", err) || kernels_load(comm, err)
               ? -1
               : 0;
}

/* Fill in this rank's identity, or the reason why this rank cannot run. */
static void identify(struct backend_comm *comm, const struct backend_env *env)
{
    struct nccl_identity *identity = &comm->identity;
    const char *hostid = getenv("NCCL_HOSTID"), *sharing;
    char value[32];
    struct error why = {0};

    snprintf(identity->node, sizeof(identity->node), "%s",
             env->node ? env->node : "this node");
    snprintf(identity->nccl_hostid, sizeof(identity->nccl_hostid), "%s",
             hostid ? hostid : "");
    sharing = nccl_setting("NCCL_MULTI_RANK_GPU_ENABLE", value, sizeof(value));
    identity->may_share = sharing && strtol(sharing, NULL, 0) != 0;
    comm->cuda = env->loaded->cuda;
    comm->nccl = env->loaded->nccl;
    why = env->loaded->why;
    if (why.code != ERROR_NONE || set_up_device(comm, env->local_rank, &why)) {
        identity->failure_code = why.code;
        snprintf(identity->failure, sizeof(identity->failure), "%s", why.text);
    }
    identity->nccl_version = comm->nccl.version;
    identity->cuda_runtime = comm->cuda.runtime;
    identity->cuda_driver = comm->cuda.driver;
    identity->is_emulated = comm->cuda.is_emulated || comm->nccl.is_emulated;
}

static int compare_identities(struct backend_comm *comm, struct error *err)
{
    int n = comm->tree->world_size;
    struct nccl_identity *all = memory_zeroed((size_t)n, sizeof(*all), "communicator");
    char remark[256];
    int status = tree_allgather(comm->tree, &comm->identity, sizeof(*all), all, err);
    if (!status)
        status = nccl_identity_compare(all, n, err);
    if (!status) {
        nccl_identity_older(all, n, CUDA_CAPABILITY_OF_FP8, comm->without_fp8,
                            sizeof(comm->without_fp8));
        comm->sharers = nccl_identity_sharers(all, n, comm->tree->rank);
        nccl_identity_remark(all, n, remark, sizeof(remark));
        if (*remark && comm->tree->rank == 0)
            log_warn("%s", remark);
    }
    free(all);
    return status;
}

static int form(struct backend_comm *comm, const struct backend_env *env,
                struct error *err)
{
    struct nccl_id ids[NCCL_IDS_MAX];
    char scope[32] = "";

    if (backend_env_is_split(env))
        snprintf(scope, sizeof(scope), "group/%d/", env->group);
    comm->n_ids = nccl_ids_count(&comm->nccl, comm->world_size);
    struct nccl_ids_ranks ranks = {scope, comm->rank, comm->world_size, comm->n_ids};
    if (nccl_ids_exchange(&comm->nccl, env->store, &ranks, env->timeout_ms, ids, err))
        return -1;
    return comm_init(comm, ids, comm->n_ids, env->timeout_ms, err);
}

/* With a communicator, exit at once: the failure is reported already, and the end of the
 * process frees the GPU fastest. */
static void nccl_abort(struct backend_comm *comm)
{
    if (!comm)
        return;
    watchdog_unguard(comm->watchdog);
    if (comm->comm) {
        fflush(NULL);
        _exit(1);
    }
    kernels_unload(comm);
    release_device(comm);
    free(comm);
}

/* Limit of one call after all work is done. The server cannot tell in this phase which
 * rank is stuck. The stuck rank must therefore report itself before the server detects a
 * stall. */
static int64_t leave_ms(int64_t stall_ms)
{
    return stall_ms == 0 ? 0 : stall_ms / 2 > END_MS ? stall_ms / 2 : END_MS;
}

/* Time limit of one call. The server's limit is shorter, so the server can name the
 * stalled ranks first. This limit acts only if the server is gone. It includes time for
 * NCCL to connect ranks. */
static int64_t give_up_ms(const struct backend_env *env)
{
    int64_t connect_ms = (int64_t)CONNECT_MS * env->world_size;

    return env->stall_ms ? 2 * env->stall_ms + 5000 + connect_ms : 0;
}

static struct backend_comm *nccl_create(const struct backend_env *env, struct error *err)
{
    struct backend_comm *comm = memory_zeroed(1, sizeof(*comm), "communicator");

    (void)err;
    comm->tree = env->tree;
    comm->watchdog = env->watchdog;
    comm->rank = backend_env_rank(env);
    comm->world_size = backend_env_size(env);
    comm->give_up_ns = give_up_ms(env) * 1000000;
    comm->leave_ns = leave_ms(env->stall_ms) * 1000000;
    comm->backlog.finished = env->finished;
    comm->options = env->file->spec->nccl;
    comm->is_ring = env->file->spec->n_collectives == 1 &&
                    env->file->spec->collectives[0] == COLLECTIVE_SENDRECV;
    return comm;
}

static const char *last_error(void *arg, char text[WATCHDOG_MORE_MAX])
{
    const struct backend_comm *comm = arg;

    return nccl_last_error(&comm->nccl, NULL, text);
}

static int nccl_connect(struct backend_comm *comm, const struct backend_env *env,
                        struct error *err)
{
    /* The first access to a GPU may hang. */
    watchdog_guard(comm->watchdog, comm->give_up_ns, last_error, comm);
    identify(comm, env);
    if (compare_identities(comm, err) ||
        reach_check(comm->tree, comm->identity.node, comm->nccl.version, &env->observer,
                    err))
        return -1;
    comm->memory.before_init = comm_free_bytes(comm);
    if (form(comm, env, err))
        return -1;
    comm->memory.after_init = comm_free_bytes(comm);
    watchdog_enter(comm->watchdog, "NVML");
    gpu_clock_open(&comm->clock, comm->identity.bus_id);
    watchdog_leave(comm->watchdog);
    return 0;
}

/* All results are complete before this call, so the process exits with success even if
 * ncclCommDestroy hangs. */
static void destroy_comm(struct backend_comm *comm)
{
    if (!comm->comm)
        return;
    watchdog_set_dispensable(comm->watchdog, true);
    watchdog_set_limit(comm->watchdog, (int64_t)END_MS * 1000000);
    GUARDED(comm->watchdog, "ncclCommDestroy", comm->nccl.call.destroy(comm->comm));
    watchdog_set_limit(comm->watchdog, comm->leave_ns);
    watchdog_set_dispensable(comm->watchdog, false);
    comm->comm = NULL;
}

static void nccl_destroy(struct backend_comm *comm)
{
    if (!comm)
        return;
    watchdog_set_leaving(comm->watchdog, comm->leave_ns);
    comm_capture_drop(comm);
    comm_deregister(comm);
    comm_drop_operations(comm);
    destroy_comm(comm);
    comm_free(comm);
    kernels_unload(comm);
    release_device(comm);
    watchdog_unguard(comm->watchdog);
    tree_leave(comm->tree);
    free(comm);
}

static json_t *nccl_transport(struct backend_comm *comm)
{
    (void)comm;
    return json_string("nccl");
}

static json_t *nccl_details(struct backend_comm *comm)
{
    const struct nccl_identity *identity = &comm->identity;
    char nccl[NCCL_VERSION_TEXT_MAX];
    char runtime[CUDA_VERSION_TEXT_MAX], driver[CUDA_VERSION_TEXT_MAX];

    return json_pack(
        "{s:f, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:o, s:o}", "init_s", comm->init_s,
        "nccl_version", nccl_version_text(identity->nccl_version, nccl), "cuda_runtime",
        cuda_version_text(identity->cuda_runtime, runtime), "cuda_driver",
        cuda_version_text(identity->cuda_driver, driver), "device", identity->device_name,
        "pci_bus_id", identity->bus_id, "unique_ids", comm->n_ids, "checks_on_gpu",
        comm->kernels.find_wrong != NULL, "barriers", tree_describe(comm->tree),
        "gpu_memory", comm_describe_memory(comm, false));
}

/* Return the registration that took effect on rank 0. NCCL returns windows even if it
 * lacks symmetric kernels. The profiler reports an algorithm for ordinary kernels, but
 * never for symmetric ones. */
static const char *registration(const struct backend_comm *comm)
{
    enum nccl_registration asked = comm->options.registration;

    if (comm->tree->rank != 0)
        return NULL;
    if (asked != NCCL_REGISTRATION_SYMMETRIC || !comm->has_plain_row ||
        comm->has_unknown_row)
        return nccl_registration_name(asked);
    log_warn(
        "registration symmetric: NCCL registered windows, but ran no symmetric kernel");
    return "windows";
}

static json_t *nccl_report(struct backend_comm *comm)
{
    json_t *clocks, *report;
    uint64_t sent = 0;
    bool has_links;

    watchdog_enter(comm->watchdog, "NVML");
    clocks = gpu_clock_json(&comm->clock);
    /* If several ranks share a GPU, no rank reports the GPU's link counters. */
    has_links = comm->sharers <= 1 && gpu_clock_links(&comm->clock, &sent);
    watchdog_leave(comm->watchdog);
    report =
        json_pack("{s:o, s:o*, s:s*}", "gpu_memory", comm_describe_memory(comm, true),
                  "clocks", clocks, "registration", registration(comm));
    if (report && has_links)
        json_object_set_new(report, "nvlink_bytes", json_integer((json_int_t)sent));
    return report;
}

static void nccl_mark(const struct backend_comm *comm, json_t *row)
{
    if (comm->sharers > 1)
        json_object_set_new(row, "ranks_per_gpu", json_integer(comm->sharers));
}

static long nccl_replays(const struct backend_comm *comm)
{
    return comm->options.graph;
}

static const struct backend_check check = {kernels_put_input, kernels_find_wrong};
static const struct backend_graph graph = {
    nccl_replays, comm_capture_begin, comm_capture_end, comm_replay, comm_capture_drop};
static const struct backend_laps laps = {comm_laps_begin, comm_lap_run, comm_lap_wait,
                                         comm_lap_us};

/* A failure is not reported here: the probe and each case report it. */
static void load(struct backend *backend)
{
    const struct backend_libraries *loaded = backend->loaded = nccl_probe_load();

    if (loaded->why.code == ERROR_NONE) {
        backend->is_emulated = loaded->cuda.is_emulated || loaded->nccl.is_emulated;
        if (loaded->nccl.version < NCCL_WITH_FP8)
            backend->dtypes &= ~(1u << DTYPE_FLOAT8E4M3 | 1u << DTYPE_FLOAT8E5M2);
    }
    /* Error messages quote NCCL's warnings. Rows show NCCL's algorithm, from its profiler
     * interface. */
    nccl_setting_log();
    nccl_setting_default("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN");
}

const struct backend backend_nccl = {
    .name = "nccl",
    .collectives = (1u << COLLECTIVE_COUNT) - 1,
    .dtypes = (1u << DTYPE_COUNT) - 1,
    .redops = (1u << REDOP_COUNT) - 1,
    .avg_ulps = AVG_ULPS,
    .is_async = true,
    .libraries = "CUDA and NCCL",
    .load = load,
    .probe = nccl_probe_describe,
    .create = nccl_create,
    .connect = nccl_connect,
    .destroy = nccl_destroy,
    .abort = nccl_abort,
    .transport = nccl_transport,
    .details = nccl_details,
    .mark = nccl_mark,
    .report = nccl_report,
    .memory = comm_memory,
    .refuses = comm_refuses,
    .alloc = comm_alloc,
    .write = comm_write,
    .read = comm_read,
    .fill = comm_fill,
    .run = comm_run,
    .wait = comm_wait,
    .watch = comm_watch,
    .choice = comm_choice,
    .check = &check,
    .graph = &graph,
    .laps = &laps,
};
