/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_lib.c - load NCCL at run time */
#include "agent/worker/nccl/nccl_lib.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/worker/base/shared_object.h"
#include "agent/worker/nccl/cuda_lib.h"

#define FUNCTION(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct nccl_functions, member), false, NULL                       \
    }
#define OPTIONAL(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct nccl_functions, member), true, NULL                        \
    }

static const char *const library_names[] = {"libnccl.so.2", NULL};

static const struct shared_symbol symbols[] = {
    FUNCTION(get_version, "ncclGetVersion"),
    FUNCTION(error_string, "ncclGetErrorString"),
    FUNCTION(last_error, "ncclGetLastError"),
    FUNCTION(get_unique_id, "ncclGetUniqueId"),
    FUNCTION(init_rank, "ncclCommInitRankConfig"),
    FUNCTION(destroy, "ncclCommDestroy"),
    FUNCTION(async_error, "ncclCommGetAsyncError"),
    FUNCTION(group_start, "ncclGroupStart"),
    FUNCTION(group_end, "ncclGroupEnd"),
    FUNCTION(premul_create, "ncclRedOpCreatePreMulSum"),
    FUNCTION(premul_destroy, "ncclRedOpDestroy"),
    FUNCTION(all_reduce, "ncclAllReduce"),
    FUNCTION(all_gather, "ncclAllGather"),
    FUNCTION(reduce_scatter, "ncclReduceScatter"),
    FUNCTION(broadcast, "ncclBroadcast"),
    FUNCTION(reduce, "ncclReduce"),
    FUNCTION(send, "ncclSend"),
    FUNCTION(recv, "ncclRecv"),
    OPTIONAL(mem_alloc, "ncclMemAlloc"),
    OPTIONAL(mem_free, "ncclMemFree"),
    OPTIONAL(init_rank_scalable, "ncclCommInitRankScalable"),
    OPTIONAL(register_buffer, "ncclCommRegister"),
    OPTIONAL(deregister_buffer, "ncclCommDeregister"),
    OPTIONAL(register_window, "ncclCommWindowRegister"),
    OPTIONAL(deregister_window, "ncclCommWindowDeregister"),
    OPTIONAL(alltoall, "ncclAlltoAll"),
    OPTIONAL(gather, "ncclGather"),
    OPTIONAL(scatter, "ncclScatter"),
    OPTIONAL(emulated, "ringbench_emulated"),
};

static const struct shared_symbol version_symbol =
    FUNCTION(get_version, "ncclGetVersion");

/* Check the version before the other functions are bound, so that the error about an old
 * library names its version and not a missing function. */
static int check_version(void *handle, struct nccl_lib *nccl, struct error *err)
{
    char text[NCCL_VERSION_TEXT_MAX];

    if (shared_object_bind(handle, &version_symbol, 1, &nccl->call, err))
        return -1;
    nccl->path = shared_object_path(*(void **)&nccl->call.get_version);
    if (nccl->call.get_version(&nccl->version))
        return error_set(err, ERROR_UNSUPPORTED, "%s: ncclGetVersion failed", nccl->path);
    if (nccl->version < NCCL_OLDEST) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "%s has version %s; 2.18 or newer is needed", nccl->path,
                         nccl_version_text(nccl->version, text));
    }
    return 0;
}

/* NCCL contains its own CUDA runtime, independent of the worker's. That runtime needs a
 * driver of at least its own major version. */
static int check_cuda(struct nccl_lib *nccl, struct error *err)
{
    char driver[CUDA_VERSION_TEXT_MAX];

    if (nccl_lib_cuda(nccl->path, nccl->cuda))
        nccl->cuda[0] = '\0';
    if (nccl->driver == 0 || atoi(nccl->cuda) <= nccl->driver / 1000)
        return 0;
    return error_set(
        err, ERROR_UNSUPPORTED,
        "%s is built for CUDA %s, but the driver supports only CUDA %s. Fix: install "
        "a libnccl for CUDA %d or a newer driver",
        nccl->path, nccl->cuda, cuda_version_text(nccl->driver, driver),
        nccl->driver / 1000);
}

static int check(void *handle, void *arg, struct error *err)
{
    struct nccl_lib *nccl = arg;
    struct error why = {0};

    if (!check_version(handle, nccl, &why) && !check_cuda(nccl, &why))
        return 0;
    if (!*nccl->passed_over)
        snprintf(nccl->passed_over, sizeof(nccl->passed_over), "%s", why.text);
    return error_set(err, why.code, "%s", why.text);
}

static int load(struct nccl_lib *nccl, struct error *err)
{
    void *handle =
        shared_object_open(getenv("RINGBENCH_NCCL_LIB"), library_names, check, nccl, err);

    if (!handle || shared_object_bind(handle, symbols, sizeof(symbols) / sizeof(*symbols),
                                      &nccl->call, err))
        return -1;
    nccl->is_emulated = nccl->call.emulated != NULL;
    return 0;
}

int nccl_lib_load(struct nccl_lib *nccl, int driver, struct error *err)
{
    struct error why = {0};

    *nccl = (struct nccl_lib){.driver = driver};
    if (load(nccl, &why)) {
        nccl->passed_over[0] = '\0';
        return error_set(err, ERROR_UNSUPPORTED, "NCCL: %s", why.text);
    }
    return 0;
}

/* NCCL never clears its last error, so ignore one that precedes the communicator. */
static const char *recent_error(const struct nccl_lib *nccl, nccl_comm comm)
{
    const char *last = nccl->call.last_error ? nccl->call.last_error(comm) : NULL;

    return last && strcmp(last, nccl->stale_error) != 0 ? last : "";
}

void nccl_forget_error(struct nccl_lib *nccl, nccl_comm comm)
{
    const char *last = nccl->call.last_error(comm);

    snprintf(nccl->stale_error, sizeof(nccl->stale_error), "%s", last ? last : "");
}

int nccl_failed(const struct nccl_lib *nccl, nccl_comm comm, int result, const char *what,
                struct error *err)
{
    const char *last = recent_error(nccl, comm);
    enum error_code code = result == NCCL_RESULT_REMOTE ? ERROR_PEER : ERROR_INTERNAL;

    return error_set(err, code, "%s: %s (NCCL result %d)%s%s", what,
                     nccl->call.error_string(result), result,
                     *last ? ", its last error: " : "", last);
}

const char *nccl_last_error(const struct nccl_lib *nccl, nccl_comm comm,
                            char text[NCCL_LAST_ERROR_MAX])
{
    const char *last = recent_error(nccl, comm);

    text[0] = '\0';
    if (*last)
        snprintf(text, NCCL_LAST_ERROR_MAX, ", NCCL's last error: %s", last);
    return text;
}

const char *nccl_version_text(int version, char text[NCCL_VERSION_TEXT_MAX])
{
    /* Up to 2.8 the number was 1000 * major + 100 * minor + patch. */
    int major = version < 10000 ? version / 1000 : version / 10000;
    int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;

    snprintf(text, NCCL_VERSION_TEXT_MAX, "%d.%d.%d", major, minor, version % 100);
    return text;
}

/* "NCCL version 2.28.9+cuda13.0" */
static bool read_cuda(const char *at, const char *end, char text[NCCL_CUDA_TEXT_MAX])
{
    static const char numbers[] = "0123456789.", mark[] = "+cuda";
    size_t len = 0;

    while (at < end && *at && strchr(numbers, *at))
        at++;
    if ((size_t)(end - at) < sizeof(mark) || memcmp(at, mark, sizeof(mark) - 1) != 0)
        return false;
    for (at += sizeof(mark) - 1; at < end && *at && strchr(numbers, *at); at++)
        if (len + 1 < NCCL_CUDA_TEXT_MAX)
            text[len++] = *at;
    text[len] = '\0';
    return len > 0;
}

int nccl_lib_cuda(const char *path, char text[NCCL_CUDA_TEXT_MAX])
{
    static const char words[] = "NCCL version ";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    char *start = MAP_FAILED;
    bool is_found = false;

    if (file >= 0 && fstat(file, &stat) == 0 && stat.st_size > 0)
        start = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    if (start == MAP_FAILED)
        return -1;
    for (const char *at = start, *end = start + stat.st_size; !is_found;) {
        at = memmem(at, (size_t)(end - at), words, sizeof(words) - 1);
        if (!at)
            break;
        at += sizeof(words) - 1;
        is_found = read_cuda(at, end, text);
    }
    munmap(start, (size_t)stat.st_size);
    return is_found ? 0 : -1;
}
