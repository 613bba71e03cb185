/* SPDX-License-Identifier: Apache-2.0 */
/* stub_gpu.c - replaces CUDA and NCCL by calls that return at once, so that a timed call
 * measures only the worker's loop (run_loop_cost) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/nccl_abi.h"

#define CUDA_VERSION 13000
#define VERSION NCCL_ABI_VERSION(2, 28, 9)
#define MEMORY_BYTES ((size_t)1 << 30)

/* Functions that only return success. In C the caller may pass arguments to them. */
#define DOES_NOTHING(name)                                                               \
    int name(void);                                                                      \
    int name(void)                                                                       \
    {                                                                                    \
        return 0;                                                                        \
    }

#define GIVES(name, type, value)                                                         \
    int name(type *out);                                                                 \
    int name(type *out)                                                                  \
    {                                                                                    \
        *out = (value);                                                                  \
        return 0;                                                                        \
    }

DOES_NOTHING(ringbench_emulated)
DOES_NOTHING(cudaSetDevice)
DOES_NOTHING(cudaStreamDestroy)
DOES_NOTHING(cudaStreamQuery)
DOES_NOTHING(cudaEventDestroy)
DOES_NOTHING(cudaEventRecord)
DOES_NOTHING(cudaEventQuery)
DOES_NOTHING(cudaGetLastError)
DOES_NOTHING(cudaStreamBeginCapture)
DOES_NOTHING(cudaGraphLaunch)
DOES_NOTHING(cudaGraphExecDestroy)
DOES_NOTHING(cudaGraphDestroy)
DOES_NOTHING(ncclGetUniqueId)
DOES_NOTHING(ncclCommDestroy)
DOES_NOTHING(ncclCommAbort)
DOES_NOTHING(ncclGroupStart)
DOES_NOTHING(ncclGroupEnd)
DOES_NOTHING(ncclRedOpDestroy)
DOES_NOTHING(ncclAllReduce)
DOES_NOTHING(ncclAllGather)
DOES_NOTHING(ncclReduceScatter)
DOES_NOTHING(ncclBroadcast)
DOES_NOTHING(ncclReduce)
DOES_NOTHING(ncclSend)
DOES_NOTHING(ncclRecv)

static char object; /* the target of all handles */

GIVES(cudaRuntimeGetVersion, int, CUDA_VERSION)
GIVES(cudaDriverGetVersion, int, CUDA_VERSION)
GIVES(cudaGetDeviceCount, int, 1)
GIVES(cudaDeviceGetAttribute, int, 9)
GIVES(cudaStreamCreateWithFlags, void *, &object)
GIVES(cudaEventCreate, void *, &object)
GIVES(cudaEventElapsedTime, float, 0)
GIVES(cudaGraphInstantiateWithFlags, void *, &object)
GIVES(ncclGetVersion, int, VERSION)
GIVES(ncclCommInitRankConfig, void *, &object)
GIVES(ncclRedOpCreatePreMulSum, int, 100)

const char *cudaGetErrorString(int code);
const char *ncclGetErrorString(int code);
const char *ncclGetLastError(void *comm);
int cudaGetDeviceProperties_v2(struct cuda_properties *out, int device);
int cudaDeviceGetPCIBusId(char *out, int size, int device);
int cudaMemGetInfo(size_t *left, size_t *total);
int cudaMalloc(void **out, size_t size);
int cudaFree(void *memory);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
int cudaMemsetAsync(void *to, int byte, size_t size, void *stream);
int cudaStreamEndCapture(void *stream, void **out);
int ncclCommGetAsyncError(void *comm, int *out);

const char *cudaGetErrorString(int code)
{
    return code == 0 ? "no error" : "an error";
}

const char *ncclGetErrorString(int code)
{
    return cudaGetErrorString(code);
}

const char *ncclGetLastError(void *comm)
{
    (void)comm;
    return "";
}

int cudaGetDeviceProperties_v2(struct cuda_properties *out, int device)
{
    (void)device;
    memset(out, 0, sizeof(*out) - sizeof(out->rest));
    snprintf(out->name, sizeof(out->name), "stub");
    out->total_bytes = MEMORY_BYTES;
    return 0;
}

int cudaDeviceGetPCIBusId(char *out, int size, int device)
{
    snprintf(out, (size_t)size, "0000:00:%02x.0", device);
    return 0;
}

int cudaMemGetInfo(size_t *left, size_t *total)
{
    *left = *total = MEMORY_BYTES;
    return 0;
}

int cudaMalloc(void **out, size_t size)
{
    *out = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    return *out ? 0 : CUDA_ERROR_MEMORY_CODE;
}

int cudaFree(void *memory)
{
    free(memory);
    return 0;
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    (void)kind;
    (void)stream;
    memmove(to, from, size);
    return 0;
}

int cudaMemsetAsync(void *to, int byte, size_t size, void *stream)
{
    (void)stream;
    memset(to, byte, size);
    return 0;
}

int cudaStreamEndCapture(void *stream, void **out)
{
    (void)stream;
    *out = &object;
    return 0;
}

int ncclCommGetAsyncError(void *comm, int *out)
{
    (void)comm;
    *out = NCCL_RESULT_SUCCESS;
    return 0;
}
