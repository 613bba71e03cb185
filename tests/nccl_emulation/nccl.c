/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the emulated NCCL: communicators, groups, and its calls */
#include "tests/nccl_emulation/nccl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/nccl_emulation/chooser.h"
#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/dump.h"
#include "tests/nccl_emulation/operation.h"
#include "tests/nccl_emulation/profiler.h"
#include "tests/nccl_emulation/reduction.h"
#include "tests/nccl_emulation/say.h"
#include "tests/nccl_emulation/settings.h"
#include "tests/nccl_emulation/stream.h"
#include "tests/nccl_emulation/windows.h"

#ifdef EMULATED_OLD
#define VERSION 21805
#else
#define VERSION 22809
#endif

/* The calls of an open group. As in NCCL, each thread has its own. */
struct group {
    int depth;
    struct operation *first; /* array */
    cuda_stream *streams;
    size_t n;
};

static _Thread_local struct group group;
static _Thread_local long group_ends, submitted;
static char last_error[256]; /* one per process, as in NCCL */

int emulated_fail(int result, const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *level = getenv("NCCL_DEBUG");

    pthread_mutex_lock(&lock);
    snprintf(last_error, sizeof(last_error), "%s", text);
    pthread_mutex_unlock(&lock);
    if (level && *level)
        printf("emulated:%d:%d [0] nccl.c:1 NCCL WARN %s\n", getpid(), getpid(), text);
    return result;
}

int ncclGetVersion(int *version)
{
    *version = (int)emulation_setting("nccl", VERSION);
    return NCCL_RESULT_SUCCESS;
}

const char *ncclGetErrorString(int result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process exited or there was a network error",
        "NCCL operation in progress"};

    return result >= 0 && result < 8 ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(nccl_comm comm)
{
    if (comm && atomic_load(&comm->async_result) == NCCL_RESULT_REMOTE)
        return "emulated: connection closed by remote peer";
    return last_error;
}

int ncclGetUniqueId(struct nccl_id *id)
{
    memset(id, 0, sizeof(*id));
    return wire_make(id->bytes, sizeof(id->bytes))
               ? emulated_fail(NCCL_RESULT_SYSTEM, "no memfd")
               : NCCL_RESULT_SUCCESS;
}

/* Like parseCommConfig in src/init.cc: members that the version knows must be unset or in
 * range. Other members are ignored. */
static const char *why_no_config(const struct nccl_config *config)
{
    int version, policy = config->cta_policy;
    long peers = emulation_setting("expect_peers", 0);

    ncclGetVersion(&version);
    if (version >= 22700 && policy != NCCL_CONFIG_UNSET &&
        (policy < 0 || policy > (version < 22800 ? 1 : 2)))
        return "Invalid config policy attribute value";
    if (version >= NCCL_WITH_NVLINK_SCHED &&
        config->nvlink_centric_sched != NCCL_CONFIG_UNSET &&
        config->nvlink_centric_sched != 0 && config->nvlink_centric_sched != 1)
        return "Invalid config nvlinkCentricSched attribute value";
    if (version >= NCCL_WITH_P2P_PEERS && config->version >= NCCL_WITH_P2P_PEERS &&
        (config->size < sizeof(*config) ||
         (config->max_p2p_peers != NCCL_CONFIG_UNSET && config->max_p2p_peers <= 0)))
        return "Invalid config maxP2pPeers attribute value";
    bool has_peers = version >= NCCL_WITH_P2P_PEERS &&
                     config->version >= NCCL_WITH_P2P_PEERS &&
                     config->max_p2p_peers != NCCL_CONFIG_UNSET;
    return peers != 0 && peers != (has_peers ? config->max_p2p_peers : -1)
               ? "emulated: another number of peers is expected"
               : NULL;
}

static int attach(nccl_comm *out, int n, const struct nccl_id *id, int rank,
                  const struct nccl_config *config)
{
    struct ncclComm *comm;

    if (n < 1 || n > 1024 || rank < 0 || rank >= n || config->blocking != 1 ||
        config->magic != NCCL_CONFIG_MAGIC)
        return emulated_fail(NCCL_RESULT_ARGUMENT, "emulated: bad arguments of init");
    const char *why = why_no_config(config);
    if (why)
        return emulated_fail(NCCL_RESULT_ARGUMENT, why);
    long policy = emulation_setting("expect_cta", config->cta_policy);
    if (policy != config->cta_policy)
        return emulated_fail(NCCL_RESULT_ARGUMENT,
                             "emulated: another CTA policy is expected");
    if (emulation_setting("init_fails", 0)) {
        emulated_fail(NCCL_RESULT_SYSTEM, "emulated: no socket interface found");
        say("init.cc:1 -> %d", NCCL_RESULT_SYSTEM);
        return NCCL_RESULT_SYSTEM;
    }
    say_start(rank, n);
    if (emulation_setting("init_hangs", 0))
        emulation_hang();
    comm = calloc(1, sizeof(*comm));
    if (!comm)
        return emulated_fail(NCCL_RESULT_SYSTEM, "out of memory");
    comm->rank = rank;
    comm->n = n;
    comm->device = emulated_device();
    if (emulation_setting("init_mib", 0) &&
        cudaMalloc(&comm->memory, (size_t)emulation_setting("init_mib", 0) << 20)) {
        free(comm);
        return emulated_fail(NCCL_RESULT_CUDA, "Cuda failure 'out of memory'");
    }
    comm->wire = wire_attach(id->bytes, rank, n, &comm->is_aborted);
    if (!comm->wire) {
        free(comm);
        return emulated_fail(NCCL_RESULT_SYSTEM,
                             "emulated: cannot map the shared memory");
    }
    *out = comm;
    profiler_begin(comm);
    say_ways(rank, n);
    dump_topology(rank);
    return NCCL_RESULT_SUCCESS;
}

int ncclCommInitRankConfig(nccl_comm *out, int n, struct nccl_id id, int rank,
                           struct nccl_config *config)
{
    return attach(out, n, &id, rank, config);
}

/* A communicator must not be destroyed while it has registered buffers, pending work, or
 * graphs with its calls, for which NCCL waits forever. */
int ncclCommDestroy(nccl_comm comm)
{
    if (comm->n_registered != 0 || emulated_graphs() > 0 || emulated_begun() > 0)
        abort();
    while (emulation_setting("destroy_hangs", 0))
        pause();
    profiler_end(comm);
    wire_detach(comm->wire);
    cudaFree(comm->memory);
    free(comm);
    return NCCL_RESULT_SUCCESS;
}

/* Pending work ends soon. The memory is not freed, because that work still reads it. */
int ncclCommAbort(nccl_comm comm)
{
    atomic_store(&comm->is_aborted, true);
    return NCCL_RESULT_SUCCESS;
}

int ncclCommGetAsyncError(nccl_comm comm, int *result)
{
    *result = atomic_load(&comm->async_result);
    return NCCL_RESULT_SUCCESS;
}

static int enqueue(const struct operation *operation, cuda_stream stream)
{
    struct operation *own = malloc(sizeof(*own));

    if (!own)
        return emulated_fail(NCCL_RESULT_SYSTEM, "out of memory");
    *own = *operation;
    return emulated_stream_enqueue(stream, &operation_work, own) ? NCCL_RESULT_CUDA
                                                                 : NCCL_RESULT_SUCCESS;
}

/* Sends and receives of a group run together, after its collectives. */
static int enqueue_transfers(struct group *all)
{
    struct operation together = {.kind = OPERATION_POINT_TO_POINT};
    cuda_stream stream = NULL;

    together.transfers = calloc(all->n + 1, sizeof(*together.transfers));
    if (!together.transfers)
        return emulated_fail(NCCL_RESULT_SYSTEM, "out of memory");
    for (size_t i = 0; i < all->n; i++) {
        struct operation *operation = &all->first[i];
        if (operation->kind == OPERATION_POINT_TO_POINT) {
            together.comm = operation->comm;
            stream = all->streams[i];
            together.transfers[together.n_transfers++] = *operation->transfers;
            free(operation->transfers);
        }
    }
    if (together.n_transfers == 0) {
        free(together.transfers);
        return NCCL_RESULT_SUCCESS;
    }
    return enqueue(&together, stream);
}

int ncclGroupStart(void)
{
    group.depth++;
    return NCCL_RESULT_SUCCESS;
}

/* The first call with sends and receives connects the ranks, one peer after another,
 * while the caller waits. */
static void connect_peers(const struct operation *operation)
{
    struct ncclComm *comm = operation->comm;
    long ms = emulation_setting("connect_ms", 0);
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    if (comm->is_connected || ms == 0 || operation->kind < OPERATION_ALLTOALL)
        return;
    for (int i = 1; i < comm->n; i++) {
        nanosleep(&time, NULL);
        say_peer(comm->rank, (comm->rank + i) % comm->n);
    }
    comm->is_connected = true;
}

int ncclGroupEnd(void)
{
    const struct timespec launch = {.tv_nsec = emulation_setting("launch_us", 0) * 1000};
    int result = NCCL_RESULT_SUCCESS;

    if (group.depth == 0)
        return emulated_fail(NCCL_RESULT_USAGE, "emulated: group end without a start");
    if (--group.depth > 0 || group.n == 0)
        return NCCL_RESULT_SUCCESS;
    if (++group_ends == emulation_setting("group_hangs", 0))
        emulation_hang();
    if (launch.tv_nsec > 0)
        nanosleep(&launch, NULL);
    for (size_t i = 0; i < group.n; i++)
        connect_peers(&group.first[i]);
    profiler_launch(group.first, group.n);
    for (size_t i = 0; !result && i < group.n; i++)
        if (group.first[i].kind != OPERATION_POINT_TO_POINT)
            result = enqueue(&group.first[i], group.streams[i]);
    result = result ? result : enqueue_transfers(&group);
    free(group.first);
    free(group.streams);
    group = (struct group){0};
    return result;
}

static bool has_operation(const struct operation *operation)
{
    const struct premul *premul = premul_of(operation->comm, operation->op);

    return operation->op < PREMUL_FIRST || (premul && premul->type == operation->type);
}

/* Like NCCL's taskAppend (src/enqueue.cc): up to 2.27 all collectives of NCCL, later
 * those that reduce. */
static bool is_fp8_refused(const struct operation *operation)
{
    const struct member *members = wire_members(operation->comm->wire);
    enum operation_kind kind = operation->kind;
    int version;

    ncclGetVersion(&version);
    bool reduces = kind == OPERATION_ALL_REDUCE || kind == OPERATION_REDUCE_SCATTER ||
                   kind == OPERATION_REDUCE;
    bool copies = kind == OPERATION_ALL_GATHER || kind == OPERATION_BROADCAST;
    if ((operation->type != NCCL_TYPE_FLOAT8E4M3 &&
         operation->type != NCCL_TYPE_FLOAT8E5M2) ||
        !(reduces || (copies && version < 22800)))
        return false;
    for (int rank = 0; rank < operation->comm->n; rank++)
        if (atomic_load(&members[rank].sm) < 90)
            return true;
    return false;
}

/* Like NCCL's ncclLaunchOneRank (src/device/onerank.cu): the kernel for a single rank
 * does not support fp8. */
static bool is_fp8_of_one_rank(const struct operation *operation)
{
    return operation->comm->n == 1 &&
           (operation->type == NCCL_TYPE_FLOAT8E4M3 ||
            operation->type == NCCL_TYPE_FLOAT8E5M2) &&
           (operation->op == NCCL_OP_AVG || operation->op >= PREMUL_FIRST);
}

/* For collectives only; transfers use other members. */
static const char *why_unexpected(const struct operation *operation, cuda_stream stream)
{
    long shift = emulation_setting("expect_shift", -1);

    if (emulated_stream_device(stream) != operation->comm->device)
        return "emulated: the stream is another device's";
    if (!has_operation(operation))
        return "emulated: no such operation of this type";
    if (stream && emulation_setting("expect_null_stream", 0))
        return "emulated: the null stream is expected";
    if (operation->kind == OPERATION_POINT_TO_POINT)
        return NULL;
    if (is_fp8_refused(operation))
        return "FP8 reduction support begins with sm90 capable devices.";
    if (shift >= 0 && ((size_t)operation->send % 16 != (size_t)shift ||
                       (size_t)operation->recv % 16 != (size_t)shift))
        return "emulated: another alignment is expected";
    if (emulation_setting("expect_registered", 0) &&
        !(emulated_is_registered(operation->comm, operation->send) &&
          emulated_is_registered(operation->comm, operation->recv)))
        return "emulated: registered buffers are expected";
    return NULL;
}

static int submit(const struct operation *operation, cuda_stream stream)
{
    const char *why = why_unexpected(operation, stream);

    if (why) {
        free(operation->transfers);
        return emulated_fail(NCCL_RESULT_ARGUMENT, why);
    }
    if (is_fp8_of_one_rank(operation))
        return NCCL_RESULT_ARGUMENT;
    if (operation->count == 0) {
        free(operation->transfers);
        return NCCL_RESULT_SUCCESS;
    }
    ncclGroupStart();
    if (++submitted == emulation_setting("warn", 0))
        emulated_fail(NCCL_RESULT_REMOTE, "emulated: connection reset by peer");
    group.first = realloc(group.first, (group.n + 1) * sizeof(*group.first));
    group.streams = realloc(group.streams, (group.n + 1) * sizeof(cuda_stream));
    group.first[group.n] = *operation;
    group.streams[group.n++] = stream;
    return ncclGroupEnd();
}

/* Opaque numbers, as in NCCL. */
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence,
                             nccl_comm comm)
{
    int at = 0;

    while (at < PREMULS_MAX && comm->premuls[at].is_used)
        at++;
    if (residence != NCCL_SCALAR_HOST || at == PREMULS_MAX)
        return emulated_fail(NCCL_RESULT_ARGUMENT, "emulated: bad pre-multiplied sum");
    comm->premuls[at].is_used = true;
    comm->premuls[at].type = type;
    memcpy(comm->premuls[at].scalar, scalar, reduction_element(type));
    *op = PREMUL_FIRST + at;
    return NCCL_RESULT_SUCCESS;
}

int ncclRedOpDestroy(int op, nccl_comm comm)
{
    if (!premul_of(comm, op))
        return emulated_fail(NCCL_RESULT_ARGUMENT, "emulated: no such operation");
    comm->premuls[op - PREMUL_FIRST].is_used = false;
    return NCCL_RESULT_SUCCESS;
}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op,
                  nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_ALL_REDUCE, comm, send, recv, count, type, op, -1, NULL, 0};

    return submit(&operation, stream);
}

int ncclAllGather(const void *send, void *recv, size_t count, int type, nccl_comm comm,
                  cuda_stream stream)
{
    struct operation operation = {
        OPERATION_ALL_GATHER, comm, send, recv, count, type, 0, -1, NULL, 0};

    return submit(&operation, stream);
}

int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
                      nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_REDUCE_SCATTER, comm, send, recv, count, type, op, -1, NULL, 0};

    return submit(&operation, stream);
}

int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
                  nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_BROADCAST, comm, send, recv, count, type, 0, root, NULL, 0};

    return submit(&operation, stream);
}

int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
               nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_REDUCE, comm, send, recv, count, type, op, root, NULL, 0};

    return submit(&operation, stream);
}

static int transfer(bool is_send, const void *data, size_t count, int type, int peer,
                    nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        .kind = OPERATION_POINT_TO_POINT, .comm = comm, .count = count, .type = type};

    operation.transfers = calloc(1, sizeof(*operation.transfers));
    if (!operation.transfers)
        return emulated_fail(NCCL_RESULT_SYSTEM, "out of memory");
    *operation.transfers = (struct transfer){.peer = peer,
                                             .is_send = is_send,
                                             .data = (char *)(size_t)data,
                                             .len = count * reduction_element(type)};
    return submit(&operation, stream);
}

int ncclSend(const void *send, size_t count, int type, int peer, nccl_comm comm,
             cuda_stream stream)
{
    return transfer(true, send, count, type, peer, comm, stream);
}

int ncclRecv(void *recv, size_t count, int type, int peer, nccl_comm comm,
             cuda_stream stream)
{
    return transfer(false, recv, count, type, peer, comm, stream);
}

#ifndef EMULATED_OLD
int ncclCommInitRankScalable(nccl_comm *out, int n, int rank, int n_ids,
                             struct nccl_id *ids, struct nccl_config *config)
{
    return n_ids < 1 ? emulated_fail(NCCL_RESULT_ARGUMENT, "emulated: no id")
                     : attach(out, n, &ids[n_ids - 1], rank, config);
}

int ncclAlltoAll(const void *send, void *recv, size_t count, int type, nccl_comm comm,
                 cuda_stream stream)
{
    struct operation operation = {
        OPERATION_ALLTOALL, comm, send, recv, count, type, 0, -1, NULL, 0};

    return submit(&operation, stream);
}

int ncclGather(const void *send, void *recv, size_t count, int type, int root,
               nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_GATHER, comm, send, recv, count, type, 0, root, NULL, 0};

    return submit(&operation, stream);
}

int ncclScatter(const void *send, void *recv, size_t count, int type, int root,
                nccl_comm comm, cuda_stream stream)
{
    struct operation operation = {
        OPERATION_SCATTER, comm, send, recv, count, type, 0, root, NULL, 0};

    return submit(&operation, stream);
}
#endif
