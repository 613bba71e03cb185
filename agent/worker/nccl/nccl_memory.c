/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_memory.c - GPU memory: its budget, the buffers, and copies from and to the host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/nccl_comm.h"
#include "common/base/units.h"

#define GIB (UINT64_C(1) << 30)
#define ALIGNMENT 4096
/* a fill copies this many bytes from the host and then doubles the filled part */
#define SEED_BYTES 65536

/* The reserve of nccl-tests: 1/16 of the memory, at most 4 GiB, plus 1 GiB. On devices
 * below 16 GiB the additional part is 1/16, too. */
static uint64_t reserve_of(uint64_t total)
{
    uint64_t sixteenth = total / 16;
    uint64_t reserve = sixteenth < 4 * GIB ? sixteenth : 4 * GIB;

    return reserve + (sixteenth < GIB ? sixteenth : GIB);
}

int comm_memory(struct backend_comm *comm, struct backend_memory *out, struct error *err)
{
    char left[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], kept[UNITS_TEXT_MAX];
    size_t free_bytes = 0, total = 0;

    int code = GUARDED(comm->watchdog, "cudaMemGetInfo",
                       comm->cuda.call.mem_info(&free_bytes, &total));
    if (code)
        return comm_cuda(comm, code, "cudaMemGetInfo", err);
    uint64_t reserve = reserve_of(total);
    out->bytes =
        free_bytes > reserve ? (free_bytes - reserve) / (uint64_t)comm->sharers : 0;
    snprintf(out->text, sizeof(out->text),
             "%s free of the GPU's %s, minus a reserve of %s, shared by %d rank%s",
             units_format_human(free_bytes, left), units_format_human(total, all),
             units_format_human(reserve, kept), comm->sharers,
             comm->sharers == 1 ? "" : "s");
    return 0;
}

size_t comm_free_bytes(struct backend_comm *comm)
{
    size_t free_bytes = 0, total = 0;

    int code = GUARDED(comm->watchdog, "cudaMemGetInfo",
                       comm->cuda.call.mem_info(&free_bytes, &total));
    return code ? 0 : free_bytes;
}

/* The decrease in free memory between two readings. 0 if other processes freed more. */
static json_int_t taken(size_t before, size_t after)
{
    return before > after ? (json_int_t)(before - after) : 0;
}

json_t *comm_describe_memory(struct backend_comm *comm, bool is_end)
{
    const struct nccl_memory *memory = &comm->memory;
    json_t *out =
        json_pack("{s:I}", "init_bytes", taken(memory->before_init, memory->after_init));

    if (out && is_end) {
        json_object_set_new(
            out, "buffer_bytes",
            json_integer(taken(memory->before_buffers, memory->after_buffers)));
        json_object_set_new(
            out, "end_bytes",
            json_integer(taken(memory->before_init, comm_free_bytes(comm))));
    }
    return out;
}

int comm_malloc(struct backend_comm *comm, void **out, size_t bytes)
{
    return GUARDED(comm->watchdog, "cudaMalloc", comm->cuda.call.malloc(out, bytes));
}

void comm_mem_free(struct backend_comm *comm, void *memory)
{
    GUARDED(comm->watchdog, "cudaFree", comm->cuda.call.free(memory));
}

static int alloc_cuda(struct backend_comm *comm, size_t bytes, struct error *err)
{
    int code = comm_malloc(comm, &comm->send, bytes);

    if (!code)
        code = comm_malloc(comm, &comm->recv, bytes);
    return comm_cuda(comm, code, "cudaMalloc of a buffer", err);
}

static int nccl_malloc(struct backend_comm *comm, void **out, size_t bytes)
{
    return GUARDED(comm->watchdog, "ncclMemAlloc", comm->nccl.call.mem_alloc(out, bytes));
}

static int alloc_nccl(struct backend_comm *comm, size_t bytes)
{
    if (!comm->nccl.call.mem_alloc || !comm->nccl.call.mem_free)
        return -1;
    comm->is_nccl_memory = true;
    if (!nccl_malloc(comm, &comm->send, bytes) && !nccl_malloc(comm, &comm->recv, bytes))
        return 0;
    comm_free(comm);
    comm->cuda.call.get_last_error();
    return -1;
}

static int register_local(struct backend_comm *comm, size_t bytes, struct error *err)
{
    void *const buffers[] = {comm->send, comm->recv};

    if (!comm->nccl.call.register_buffer || !comm->nccl.call.deregister_buffer) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "registration local: this NCCL lacks ncclCommRegister; 2.19 or "
                         "newer is needed");
    }
    for (int i = 0; i < 2; i++) {
        watchdog_enter(comm->watchdog, "ncclCommRegister");
        int result = comm->nccl.call.register_buffer(comm->comm, buffers[i], bytes,
                                                     &comm->handles[i]);
        watchdog_leave(comm->watchdog);
        if (result)
            return comm_nccl(comm, result, "ncclCommRegister", err);
    }
    return 0;
}

/* If windows are not supported, NCCL returns success and a NULL window. */
static int register_symmetric(struct backend_comm *comm, size_t bytes, struct error *err)
{
    void *const buffers[] = {comm->send, comm->recv};

    if (!comm->nccl.call.register_window || !comm->nccl.call.deregister_window) {
        return error_set(
            err, ERROR_UNSUPPORTED,
            "registration symmetric: this NCCL does not support windows; 2.27 or "
            "newer is needed");
    }
    if (!comm->is_nccl_memory) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "registration symmetric: windows need memory from ncclMemAlloc, "
                         "which failed");
    }
    for (int i = 0; i < 2; i++) {
        watchdog_enter(comm->watchdog, "ncclCommWindowRegister");
        int result = comm->nccl.call.register_window(
            comm->comm, buffers[i], bytes, &comm->windows[i], NCCL_WINDOW_SYMMETRIC);
        watchdog_leave(comm->watchdog);
        if (result)
            return comm_nccl(comm, result, "ncclCommWindowRegister", err);
        if (!comm->windows[i]) {
            return error_set(err, ERROR_UNSUPPORTED,
                             "registration symmetric: NCCL returned no window for the "
                             "buffers. They may not support symmetric memory");
        }
    }
    return 0;
}

void comm_deregister(struct backend_comm *comm)
{
    for (int i = 0; i < 2; i++) {
        if (comm->handles[i]) {
            GUARDED(comm->watchdog, "ncclCommDeregister",
                    comm->nccl.call.deregister_buffer(comm->comm, comm->handles[i]));
        }
        if (comm->windows[i]) {
            GUARDED(comm->watchdog, "ncclCommWindowDeregister",
                    comm->nccl.call.deregister_window(comm->comm, comm->windows[i]));
        }
        comm->handles[i] = NULL;
        comm->windows[i] = NULL;
    }
}

static int register_buffers(struct backend_comm *comm, size_t bytes, struct error *err)
{
    switch (comm->options.registration) {
    case NCCL_REGISTRATION_LOCAL:
        return register_local(comm, bytes, err);
    case NCCL_REGISTRATION_SYMMETRIC:
        return register_symmetric(comm, bytes, err);
    default:
        return 0;
    }
}

int comm_alloc(struct backend_comm *comm, size_t bytes, void **send, void **recv,
               struct error *err)
{
    size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    comm->memory.before_buffers = comm_free_bytes(comm);
    if (alloc_nccl(comm, whole) && alloc_cuda(comm, whole, err)) {
        comm_free(comm);
        char text[UNITS_TEXT_MAX];
        return error_prefix(err, "2 buffers of %s", units_format_human(whole, text));
    }
    if (register_buffers(comm, whole, err))
        return -1;
    comm->memory.after_buffers = comm_free_bytes(comm);
    *send = comm->send;
    *recv = comm->recv;
    return 0;
}

static void free_buffer(struct backend_comm *comm, void *memory)
{
    if (!memory)
        return;
    if (comm->is_nccl_memory)
        GUARDED(comm->watchdog, "ncclMemFree", comm->nccl.call.mem_free(memory));
    else
        comm_mem_free(comm, memory);
}

void comm_free(struct backend_comm *comm)
{
    free_buffer(comm, comm->send);
    free_buffer(comm, comm->recv);
    comm->send = comm->recv = NULL;
    comm->is_nccl_memory = false;
}

static int copy(struct backend_comm *comm, void *to, const void *from, size_t len,
                struct error *err)
{
    int code = GUARDED(comm->watchdog, "cudaMemcpyAsync",
                       comm->cuda.call.memcpy_async(
                           to, from, len, CUDA_MEMCPY_DEFAULT_KIND, comm->stream));

    return comm_cuda(comm, code, "cudaMemcpyAsync", err);
}

int comm_write(struct backend_comm *comm, void *to, const void *host, size_t len,
               struct error *err)
{
    return copy(comm, to, host, len, err) || comm_wait(comm, err) ? -1 : 0;
}

int comm_read(struct backend_comm *comm, void *host, const void *from, size_t len,
              struct error *err)
{
    return copy(comm, host, from, len, err) || comm_wait(comm, err) ? -1 : 0;
}

/* Fill the buffer by copying its first `done` bytes behind themselves. Each copy doubles
 * the filled part. */
static int double_up(struct backend_comm *comm, char *to, size_t done, size_t len,
                     struct error *err)
{
    while (done < len) {
        size_t part = len - done < done ? len - done : done;
        if (copy(comm, to + done, to, part, err))
            return -1;
        done += part;
    }
    return comm_wait(comm, err);
}

int comm_fill(struct backend_comm *comm, void *to, const void *element, size_t size,
              size_t len, struct error *err)
{
    unsigned char seed[SEED_BYTES] = {0};
    size_t first = len < sizeof(seed) ? len : sizeof(seed);

    if (size == 1) {
        int code = GUARDED(comm->watchdog, "cudaMemsetAsync",
                           comm->cuda.call.memset_async(
                               to, *(const unsigned char *)element, len, comm->stream));
        return comm_cuda(comm, code, "cudaMemsetAsync", err) || comm_wait(comm, err) ? -1
                                                                                     : 0;
    }
    for (size_t i = 0; i < first; i += size)
        memcpy(seed + i, element, first - i < size ? first - i : size);
    if (comm_write(comm, to, seed, first, err))
        return -1;
    return double_up(comm, to, first, len, err);
}
