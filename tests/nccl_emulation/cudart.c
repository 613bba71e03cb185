/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.c - the emulated CUDA runtime: devices, memory, streams, events */
#include "tests/nccl_emulation/cudart.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "tests/nccl_emulation/settings.h"
#include "tests/nccl_emulation/stream.h"

#define PAGE 4096 /* a page before each allocation holds its size */
#define DEVICES_MAX 64

struct CUevent_st {
    atomic_llong at_ns; /* when the stream reached it; 0: not yet */
};

const int ringbench_emulated = 1;

#define MAY_HANG(function)                                                               \
    do {                                                                                 \
        static struct emulation_calls calls;                                             \
        emulation_may_hang("hang_" #function, &calls);                                   \
    } while (0)

static void __attribute__((constructor)) be_loaded(void)
{
    MAY_HANG(load);
}

static atomic_size_t used_bytes; /* a process uses one device */
static _Thread_local int last_error, current_device;

static int keep(int code)
{
    last_error = code ? code : last_error;
    return code;
}

const char *cudaGetErrorString(int code)
{
    switch (code) {
    case CUDA_SUCCESS_CODE:
        return "no error";
    case CUDA_ERROR_MEMORY_CODE:
        return "out of memory";
    case CUDA_ERROR_INSUFFICIENT_DRIVER_CODE:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case CUDA_ERROR_NO_DEVICE_CODE:
        return "no CUDA-capable device is detected";
    case CUDA_ERROR_INVALID_DEVICE_CODE:
        return "invalid device ordinal";
    case CUDA_ERROR_NO_IMAGE_CODE:
        return "no kernel image is available for execution on the device";
    case CUDA_ERROR_ILLEGAL_STATE_CODE:
        return "the operation cannot be performed in the present state";
    case CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE:
        return "operation not permitted when stream is capturing";
    case CUDA_ERROR_CAPTURE_INVALIDATED_CODE:
        return "operation failed due to a previous error during capture";
    case CUDA_ERROR_LAUNCH_FAILURE_CODE:
        return "unspecified launch failure";
    default:
        return "emulated error";
    }
}

int cudaGetLastError(void)
{
    int code = last_error;

    last_error = CUDA_SUCCESS_CODE;
    return code;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = (int)emulation_setting("cuda", EMULATED_CUDA);
    return CUDA_SUCCESS_CODE;
}

int cudaDriverGetVersion(int *version)
{
    *version =
        emulation_setting("no_driver", 0) ? 0 : (int)emulation_setting("driver", 13000);
    return CUDA_SUCCESS_CODE;
}

/* Like the real function, a failing call does not write the count. */
int cudaGetDeviceCount(int *count)
{
    if (emulation_setting("no_driver", 0))
        return keep(CUDA_ERROR_INSUFFICIENT_DRIVER_CODE);
    if (emulation_setting("no_device", 0))
        return keep(CUDA_ERROR_NO_DEVICE_CODE);
    long devices = emulation_setting("devices", 2);
    *count = devices < DEVICES_MAX ? (int)devices : DEVICES_MAX;
    return CUDA_SUCCESS_CODE;
}

static bool is_device(int device)
{
    int count = 0;

    return cudaGetDeviceCount(&count) == 0 && device >= 0 && device < count;
}

int cudaSetDevice(int device)
{
    MAY_HANG(cudaSetDevice);
    if (!is_device(device))
        return keep(CUDA_ERROR_INVALID_DEVICE_CODE);
    current_device = device;
    return CUDA_SUCCESS_CODE;
}

int emulated_device(void)
{
    return current_device;
}

static size_t total_bytes(void)
{
    return (size_t)emulation_setting("memory_mib", 1024) << 20;
}

/* A GPU's identity depends on (node, index): nodes of a test share a machine, but no GPU.
 */
static void make_uuid(int device, unsigned char uuid[16])
{
    const char *node = getenv("RINGBENCH_NODE"), *host = getenv("RINGBENCH_HOSTID");
    char text[512];
    uint64_t hash[2] = {UINT64_C(0xcbf29ce484222325), 1};

    snprintf(text, sizeof(text), "%s/%s/%d", node ? node : "", host ? host : "", device);
    for (const char *at = text; *at && !emulation_setting("same_gpu", 0); at++)
        hash[0] = (hash[0] ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    memcpy(uuid, hash, 16);
}

int cudaGetDeviceProperties(struct cuda_properties *properties, int device)
{
    if (!is_device(device))
        return keep(CUDA_ERROR_INVALID_DEVICE_CODE);
    memset(properties, 0, offsetof(struct cuda_properties, rest));
    snprintf(properties->name, sizeof(properties->name), "emulated GPU");
    make_uuid(device, properties->uuid);
    properties->total_bytes = total_bytes();
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    int sm = (int)emulation_setting("sm", 90);

    if (!is_device(device))
        return keep(CUDA_ERROR_INVALID_DEVICE_CODE);
    if (attribute != CUDA_ATTRIBUTE_CAPABILITY_MAJOR &&
        attribute != CUDA_ATTRIBUTE_CAPABILITY_MINOR)
        return keep(CUDA_ERROR_INVALID_VALUE_CODE);
    *value = attribute == CUDA_ATTRIBUTE_CAPABILITY_MAJOR ? sm / 10 : sm % 10;
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetPCIBusId(char *text, int len, int device)
{
    if (!is_device(device))
        return keep(CUDA_ERROR_INVALID_DEVICE_CODE);
    snprintf(text, (size_t)len, "0000:%02x:00.0", device + 1);
    return CUDA_SUCCESS_CODE;
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    size_t used = atomic_load(&used_bytes);

    *total = total_bytes();
    *free_bytes = used < *total ? *total - used : 0;
    return CUDA_SUCCESS_CODE;
}

int cudaMalloc(void **out, size_t bytes)
{
    size_t whole = PAGE + (bytes + PAGE - 1) / PAGE * PAGE;
    long limit = emulation_setting("oom", 0);
    char *memory;

    MAY_HANG(cudaMalloc);
    if (emulated_capture_forbids())
        return keep(CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE);
    if ((limit > 0 && bytes >= (size_t)limit) ||
        atomic_load(&used_bytes) + whole > total_bytes())
        return keep(CUDA_ERROR_MEMORY_CODE);
    memory = aligned_alloc(PAGE, whole);
    if (!memory)
        return keep(CUDA_ERROR_MEMORY_CODE);
    memcpy(memory, &whole, sizeof(whole));
    atomic_fetch_add(&used_bytes, whole);
    *out = memory + PAGE;
    return CUDA_SUCCESS_CODE;
}

int cudaFree(void *memory)
{
    size_t whole;

    MAY_HANG(cudaFree);
    if (emulated_capture_forbids())
        return keep(CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE);
    if (memory) {
        char *begin = (char *)memory - PAGE;
        memcpy(&whole, begin, sizeof(whole));
        atomic_fetch_sub(&used_bytes, whole);
        free(begin);
    }
    return CUDA_SUCCESS_CODE;
}

struct copy {
    void *to;
    const void *from; /* NULL: fill with `byte` */
    size_t len;
    int byte;
};

static void do_copy(void *arg)
{
    const struct copy *copy = arg;

    if (copy->from)
        memmove(copy->to, copy->from, copy->len);
    else
        memset(copy->to, copy->byte, copy->len);
}

static void *copy_of_copy(const void *arg)
{
    struct copy *own = malloc(sizeof(*own));

    if (own)
        *own = *(const struct copy *)arg;
    return own;
}

static const struct emulated_work copy_work = {do_copy, copy_of_copy, free};

static int enqueue_copy(struct copy copy, cuda_stream stream)
{
    struct copy *own = malloc(sizeof(*own));

    if (!own)
        return keep(CUDA_ERROR_MEMORY_CODE);
    *own = copy;
    return keep(emulated_stream_enqueue(stream, &copy_work, own));
}

int cudaMemcpyAsync(void *to, const void *from, size_t len, int kind, cuda_stream stream)
{
    MAY_HANG(cudaMemcpyAsync);
    if (kind != CUDA_MEMCPY_DEFAULT_KIND || !from)
        return keep(CUDA_ERROR_INVALID_VALUE_CODE);
    return enqueue_copy((struct copy){.to = to, .from = from, .len = len}, stream);
}

int cudaMemsetAsync(void *to, int byte, size_t len, cuda_stream stream)
{
    return enqueue_copy((struct copy){.to = to, .len = len, .byte = byte}, stream);
}

int cudaStreamCreateWithFlags(cuda_stream *out, unsigned flags)
{
    (void)flags;
    return keep(emulated_stream_create(out));
}

int cudaStreamDestroy(cuda_stream stream)
{
    MAY_HANG(cudaStreamDestroy);
    emulated_stream_destroy(stream);
    return CUDA_SUCCESS_CODE;
}

int cudaStreamQuery(cuda_stream stream)
{
    MAY_HANG(cudaStreamQuery);
    return emulated_stream_state(stream);
}

int cudaEventCreate(cuda_event *out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? CUDA_SUCCESS_CODE : keep(CUDA_ERROR_MEMORY_CODE);
}

int cudaEventDestroy(cuda_event event)
{
    free(event);
    return CUDA_SUCCESS_CODE;
}

static void stamp(void *arg)
{
    cuda_event event;

    memcpy(&event, arg, sizeof(event));
    atomic_store(&event->at_ns, clock_monotonic_ns());
}

static void *copy_of_stamp(const void *arg)
{
    cuda_event *own = malloc(sizeof(*own));

    if (own)
        memcpy(own, arg, sizeof(*own));
    return own;
}

static const struct emulated_work stamp_work = {stamp, copy_of_stamp, free};

int cudaEventRecord(cuda_event event, cuda_stream stream)
{
    cuda_event *own = malloc(sizeof(event));

    MAY_HANG(cudaEventRecord);
    if (!own)
        return keep(CUDA_ERROR_MEMORY_CODE);
    memcpy(own, &event, sizeof(event));
    atomic_store(&event->at_ns, 0);
    return keep(emulated_stream_enqueue(stream, &stamp_work, own));
}

int cudaEventQuery(cuda_event event)
{
    return atomic_load(&event->at_ns) ? CUDA_SUCCESS_CODE : CUDA_ERROR_NOT_READY_CODE;
}

int cudaEventElapsedTime(float *ms, cuda_event start, cuda_event end)
{
    if (!atomic_load(&start->at_ns) || !atomic_load(&end->at_ns))
        return keep(CUDA_ERROR_NOT_READY_CODE);
    *ms = (float)(atomic_load(&end->at_ns) - atomic_load(&start->at_ns)) / 1e6f;
    return CUDA_SUCCESS_CODE;
}
