/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_abi.h - the part of CUDA's binary interface that the worker uses
 *
 * The worker loads the library at run time. With these declarations it builds without the
 * toolkit. Values and layouts are those of NVIDIA's cuda_runtime_api.h, unchanged from
 * CUDA 11 to 13. tests/unit/test_nccl_abi.c compares them with the header if it is
 * installed. All names differ from the header's, so that both can be included. */
#ifndef RINGBENCH_WORKER_NCCL_CUDA_ABI_H
#define RINGBENCH_WORKER_NCCL_CUDA_ABI_H

#include <stddef.h>

enum {
    CUDA_SUCCESS_CODE = 0,
    CUDA_ERROR_INVALID_VALUE_CODE = 1,
    CUDA_ERROR_MEMORY_CODE = 2,
    CUDA_ERROR_INSUFFICIENT_DRIVER_CODE = 35,
    CUDA_ERROR_NO_DEVICE_CODE = 100,
    CUDA_ERROR_INVALID_DEVICE_CODE = 101,
    CUDA_ERROR_NO_IMAGE_CODE = 209,
    CUDA_ERROR_ILLEGAL_STATE_CODE = 401,
    CUDA_ERROR_NOT_FOUND_CODE = 500,
    CUDA_ERROR_NOT_READY_CODE = 600,
    CUDA_ERROR_LAUNCH_FAILURE_CODE = 719,
    CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE = 900,
    CUDA_ERROR_CAPTURE_INVALIDATED_CODE = 901
};

enum { CUDA_STREAM_NON_BLOCKING_FLAG = 1 };

/* cudaStreamCaptureMode: unsafe calls are forbidden only in the capturing thread. */
enum { CUDA_CAPTURE_THREAD_LOCAL_MODE = 1 };

/* cudaMemcpyKind: CUDA infers the direction from the addresses. */
enum { CUDA_MEMCPY_DEFAULT_KIND = 4 };

/* cudaDeviceAttr */
enum { CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75, CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76 };

/* Lowest compute capability, times 10, with fp8 arithmetic. */
#define CUDA_CAPABILITY_OF_FP8 90

/* The first members of cudaDeviceProp, the same since CUDA 10. */
struct cuda_properties {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_device_node_mask;
    size_t total_bytes;
    char rest[4096];
};

typedef struct CUstream_st *cuda_stream;
typedef struct CUevent_st *cuda_event;
typedef struct CUgraph_st *cuda_graph;
typedef struct CUgraphExec_st *cuda_graph_exec;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;

#endif
