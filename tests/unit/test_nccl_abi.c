/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_abi.c - the worker's declarations of CUDA and NCCL agree with their headers
 *
 * The compiler checks the functions: a difference fails the build. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_abi.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "tests/unit/test.h"

#define EQUAL(ours, theirs)                                                              \
    _Static_assert((size_t)(ours) == (size_t)(theirs), #ours " is " #theirs)

/* ---- Functions ---- */

/* clang-format off */
/* A value of the type that the header has for one of the worker's own. */
#define VALUE(type)                                                                      \
    _Generic(*(type *)0,                                                                 \
        struct cuda_properties *: (struct cudaDeviceProp *)0,                            \
        struct nccl_id: *(ncclUniqueId *)0,                                              \
        struct nccl_id *: (ncclUniqueId *)0,                                             \
        struct nccl_config *: (ncclConfig_t *)0,                                         \
        SIM_INFO                                                                         \
        default: *(type *)0)
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
#define SIM_INFO struct nccl_sim_info *: (ncclSimInfo_t *)0,
#else
#define SIM_INFO
#endif

#define VALUES_0(none)
#define VALUES_1(type) VALUE(type)
#define VALUES_2(type, ...) VALUE(type), VALUES_1(__VA_ARGS__)
#define VALUES_3(type, ...) VALUE(type), VALUES_2(__VA_ARGS__)
#define VALUES_4(type, ...) VALUE(type), VALUES_3(__VA_ARGS__)
#define VALUES_5(type, ...) VALUE(type), VALUES_4(__VA_ARGS__)
#define VALUES_6(type, ...) VALUE(type), VALUES_5(__VA_ARGS__)
#define VALUES_7(type, ...) VALUE(type), VALUES_6(__VA_ARGS__)
#define VALUES_8(type, ...) VALUE(type), VALUES_7(__VA_ARGS__)
#define VALUES_9(type, ...) VALUE(type), VALUES_8(__VA_ARGS__)
#define VALUES_10(type, ...) VALUE(type), VALUES_9(__VA_ARGS__)
#define VALUES_11(type, ...) VALUE(type), VALUES_10(__VA_ARGS__)

/* The worker's table has the function with these n parameters, and the header's takes them,
 * in that order and without a warning. An enumeration is an int to the worker. */
#define FUNCTION(table, n, returned, name, theirs, ...)                                  \
    enum { table##_##name##_is_number = __COUNTER__ };                                   \
    _Static_assert(__builtin_types_compatible_p(                                         \
        __typeof__(((struct table *)0)->name), returned (*)(__VA_ARGS__)), #name);       \
    extern __typeof__(theirs(VALUES_##n(__VA_ARGS__))) *table##_##name##_returns

#define CUDA(n, ...) FUNCTION(cuda_functions, n, __VA_ARGS__)
#define DRIVER(n, ...) FUNCTION(cuda_driver, n, __VA_ARGS__)
#define NCCL(n, ...) FUNCTION(nccl_functions, n, __VA_ARGS__)

enum { before_cuda = __COUNTER__ };
CUDA(1, const char *, error_string, cudaGetErrorString, int);
CUDA(1, int, runtime_version, cudaRuntimeGetVersion, int *);
CUDA(1, int, driver_version, cudaDriverGetVersion, int *);
CUDA(1, int, device_count, cudaGetDeviceCount, int *);
CUDA(1, int, set_device, cudaSetDevice, int);
CUDA(3, int, attribute, cudaDeviceGetAttribute, int *, int, int);
CUDA(3, int, pci_bus_id, cudaDeviceGetPCIBusId, char *, int, int);
CUDA(2, int, mem_info, cudaMemGetInfo, size_t *, size_t *);
CUDA(2, int, malloc, cudaMalloc, void **, size_t);
CUDA(1, int, free, cudaFree, void *);
CUDA(5, int, memcpy_async, cudaMemcpyAsync, void *, const void *, size_t, int,
     cuda_stream);
CUDA(4, int, memset_async, cudaMemsetAsync, void *, int, size_t, cuda_stream);
CUDA(2, int, stream_create, cudaStreamCreateWithFlags, cuda_stream *, unsigned);
CUDA(1, int, stream_destroy, cudaStreamDestroy, cuda_stream);
CUDA(1, int, stream_query, cudaStreamQuery, cuda_stream);
CUDA(1, int, event_create, cudaEventCreate, cuda_event *);
CUDA(1, int, event_destroy, cudaEventDestroy, cuda_event);
CUDA(2, int, event_record, cudaEventRecord, cuda_event, cuda_stream);
CUDA(1, int, event_query, cudaEventQuery, cuda_event);
CUDA(3, int, event_elapsed_ms, cudaEventElapsedTime, float *, cuda_event, cuda_event);
CUDA(0, int, get_last_error, cudaGetLastError, void);
CUDA(2, int, capture_begin, cudaStreamBeginCapture, cuda_stream, int);
CUDA(2, int, capture_end, cudaStreamEndCapture, cuda_stream, cuda_graph *);
CUDA(3, int, graph_instantiate, cudaGraphInstantiateWithFlags, cuda_graph_exec *,
     cuda_graph, unsigned long long);
CUDA(2, int, graph_launch, cudaGraphLaunch, cuda_graph_exec, cuda_stream);
CUDA(1, int, graph_exec_destroy, cudaGraphExecDestroy, cuda_graph_exec);
CUDA(1, int, graph_destroy, cudaGraphDestroy, cuda_graph);
CUDA(2, int, properties, cudaGetDeviceProperties, struct cuda_properties *, int);
/* None is left out. */
EQUAL(__COUNTER__ - before_cuda - 1, offsetof(struct cuda_functions, emulated) / sizeof(void *));

enum { before_driver = __COUNTER__ };
DRIVER(2, int, module_load_data, cuModuleLoadData, cuda_module *, const void *);
DRIVER(3, int, module_get_function, cuModuleGetFunction, cuda_function *, cuda_module,
       const char *);
DRIVER(11, int, launch_kernel, cuLaunchKernel, cuda_function, unsigned, unsigned,
       unsigned, unsigned, unsigned, unsigned, unsigned, cuda_stream, void **, void **);
EQUAL(__COUNTER__ - before_driver - 1, sizeof(struct cuda_driver) / sizeof(void *));

/* These take pointers to enumerations. */
__attribute__((unused)) static ncclResult_t get_async_error(ncclComm_t comm, int *out)
{
    return ncclCommGetAsyncError(comm, (ncclResult_t *)(void *)out);
}

__attribute__((unused)) static ncclResult_t create_pre_mul_sum(int *op, void *scalar, ncclDataType_t type,
                                              ncclScalarResidence_t residence, ncclComm_t comm)
{
    return ncclRedOpCreatePreMulSum((ncclRedOp_t *)(void *)op, scalar, type, residence, comm);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
enum { before_nccl = __COUNTER__ };
NCCL(1, int, get_unique_id, ncclGetUniqueId, struct nccl_id *);
NCCL(5, int, init_rank, ncclCommInitRankConfig, nccl_comm *, int, struct nccl_id, int,
     struct nccl_config *);
NCCL(2, int, async_error, get_async_error, nccl_comm, int *);
NCCL(5, int, premul_create, create_pre_mul_sum, int *, void *, int, int, nccl_comm);
NCCL(1, int, get_version, ncclGetVersion, int *);
NCCL(1, const char *, error_string, ncclGetErrorString, int);
NCCL(1, const char *, last_error, ncclGetLastError, nccl_comm);
NCCL(1, int, destroy, ncclCommDestroy, nccl_comm);
NCCL(0, int, group_start, ncclGroupStart, void);
NCCL(0, int, group_end, ncclGroupEnd, void);
NCCL(2, int, premul_destroy, ncclRedOpDestroy, int, nccl_comm);
NCCL(7, int, all_reduce, ncclAllReduce, const void *, void *, size_t, int, int,
     nccl_comm, cuda_stream);
NCCL(6, int, all_gather, ncclAllGather, const void *, void *, size_t, int, nccl_comm,
     cuda_stream);
NCCL(7, int, reduce_scatter, ncclReduceScatter, const void *, void *, size_t, int, int,
     nccl_comm, cuda_stream);
NCCL(7, int, broadcast, ncclBroadcast, const void *, void *, size_t, int, int,
     nccl_comm, cuda_stream);
NCCL(8, int, reduce, ncclReduce, const void *, void *, size_t, int, int, int, nccl_comm,
     cuda_stream);
NCCL(6, int, send, ncclSend, const void *, size_t, int, int, nccl_comm, cuda_stream);
NCCL(6, int, recv, ncclRecv, void *, size_t, int, int, nccl_comm, cuda_stream);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
NCCL(2, int, mem_alloc, ncclMemAlloc, void **, size_t);
NCCL(1, int, mem_free, ncclMemFree, void *);
NCCL(4, int, register_buffer, ncclCommRegister, nccl_comm, void *, size_t, void **);
NCCL(2, int, deregister_buffer, ncclCommDeregister, nccl_comm, void *);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 23, 0)
NCCL(6, int, init_rank_scalable, ncclCommInitRankScalable, nccl_comm *, int, int, int,
     struct nccl_id *, struct nccl_config *);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
NCCL(5, int, register_window, ncclCommWindowRegister, nccl_comm, void *, size_t,
     nccl_window *, int);
NCCL(2, int, deregister_window, ncclCommWindowDeregister, nccl_comm, nccl_window);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
NCCL(6, int, alltoall, ncclAlltoAll, const void *, void *, size_t, int, nccl_comm,
     cuda_stream);
NCCL(7, int, gather, ncclGather, const void *, void *, size_t, int, int, nccl_comm,
     cuda_stream);
NCCL(7, int, scatter, ncclScatter, const void *, void *, size_t, int, int, nccl_comm,
     cuda_stream);
EQUAL(__COUNTER__ - before_nccl - 1, offsetof(struct nccl_functions, emulated) / sizeof(void *));
#endif
/* clang-format on */

/* ---- Numbers and layouts ---- */

EQUAL(sizeof(cudaError_t), sizeof(int));
EQUAL(sizeof(enum cudaDeviceAttr), sizeof(int));
EQUAL(sizeof(enum cudaMemcpyKind), sizeof(int));
EQUAL(sizeof(enum cudaStreamCaptureMode), sizeof(int));
EQUAL(sizeof(ncclResult_t), sizeof(int));
EQUAL(sizeof(ncclDataType_t), sizeof(int));
EQUAL(sizeof(ncclRedOp_t), sizeof(int));
EQUAL(sizeof(ncclScalarResidence_t), sizeof(int));

#define PLACE(ours, member, theirs, their_member)                                        \
    assert_int_equal(offsetof(struct ours, member), offsetof(theirs, their_member))

TEST(cuda_codes_are_those_of_the_header)
{
    assert_int_equal(CUDA_SUCCESS_CODE, cudaSuccess);
    assert_int_equal(CUDA_ERROR_INVALID_VALUE_CODE, cudaErrorInvalidValue);
    assert_int_equal(CUDA_ERROR_MEMORY_CODE, cudaErrorMemoryAllocation);
    assert_int_equal(CUDA_ERROR_INSUFFICIENT_DRIVER_CODE, cudaErrorInsufficientDriver);
    assert_int_equal(CUDA_ERROR_NO_DEVICE_CODE, cudaErrorNoDevice);
    assert_int_equal(CUDA_ERROR_INVALID_DEVICE_CODE, cudaErrorInvalidDevice);
    assert_int_equal(CUDA_ERROR_NO_IMAGE_CODE, cudaErrorNoKernelImageForDevice);
    assert_int_equal(CUDA_ERROR_NOT_FOUND_CODE, cudaErrorSymbolNotFound);
    assert_int_equal(CUDA_ERROR_NOT_READY_CODE, cudaErrorNotReady);
    assert_int_equal(CUDA_ERROR_LAUNCH_FAILURE_CODE, cudaErrorLaunchFailure);
    assert_int_equal(CUDA_ERROR_ILLEGAL_STATE_CODE, cudaErrorIllegalState);
    assert_int_equal(CUDA_ERROR_CAPTURE_UNSUPPORTED_CODE,
                     cudaErrorStreamCaptureUnsupported);
    assert_int_equal(CUDA_ERROR_CAPTURE_INVALIDATED_CODE,
                     cudaErrorStreamCaptureInvalidated);
    assert_int_equal(CUDA_CAPTURE_THREAD_LOCAL_MODE, cudaStreamCaptureModeThreadLocal);
    assert_int_equal(CUDA_STREAM_NON_BLOCKING_FLAG, cudaStreamNonBlocking);
    assert_int_equal(CUDA_MEMCPY_DEFAULT_KIND, cudaMemcpyDefault);
    assert_int_equal(CUDA_ATTRIBUTE_CAPABILITY_MAJOR, cudaDevAttrComputeCapabilityMajor);
    assert_int_equal(CUDA_ATTRIBUTE_CAPABILITY_MINOR, cudaDevAttrComputeCapabilityMinor);
}

TEST(cuda_layouts_are_those_of_the_header)
{
    PLACE(cuda_properties, name, struct cudaDeviceProp, name);
    PLACE(cuda_properties, uuid, struct cudaDeviceProp, uuid);
    PLACE(cuda_properties, total_bytes, struct cudaDeviceProp, totalGlobalMem);
    assert_true(sizeof(struct cuda_properties) >= sizeof(struct cudaDeviceProp));
}

TEST(nccl_numbers_are_those_of_the_header)
{
    assert_int_equal(NCCL_RESULT_CUDA, ncclUnhandledCudaError);
    assert_int_equal(NCCL_RESULT_SYSTEM, ncclSystemError);
    assert_int_equal(NCCL_RESULT_INTERNAL, ncclInternalError);
    assert_int_equal(NCCL_RESULT_ARGUMENT, ncclInvalidArgument);
    assert_int_equal(NCCL_RESULT_USAGE, ncclInvalidUsage);
    assert_int_equal(NCCL_RESULT_REMOTE, ncclRemoteError);
    assert_int_equal(NCCL_RESULT_IN_PROGRESS, ncclInProgress);
    assert_int_equal(NCCL_OP_SUM, ncclSum);
    assert_int_equal(NCCL_OP_PROD, ncclProd);
    assert_int_equal(NCCL_OP_MAX, ncclMax);
    assert_int_equal(NCCL_OP_MIN, ncclMin);
    assert_int_equal(NCCL_OP_AVG, ncclAvg);
    assert_int_equal(NCCL_SCALAR_HOST, ncclScalarHostImmediate);
    assert_int_equal(NCCL_ABI_VERSION(2, 28, 9), NCCL_VERSION(2, 28, 9));
}

TEST(nccl_types_are_those_of_the_header)
{
    assert_int_equal(NCCL_TYPE_INT8, ncclInt8);
    assert_int_equal(NCCL_TYPE_UINT8, ncclUint8);
    assert_int_equal(NCCL_TYPE_INT32, ncclInt32);
    assert_int_equal(NCCL_TYPE_UINT32, ncclUint32);
    assert_int_equal(NCCL_TYPE_INT64, ncclInt64);
    assert_int_equal(NCCL_TYPE_UINT64, ncclUint64);
    assert_int_equal(NCCL_TYPE_FLOAT16, ncclFloat16);
    assert_int_equal(NCCL_TYPE_FLOAT32, ncclFloat32);
    assert_int_equal(NCCL_TYPE_FLOAT64, ncclFloat64);
    assert_int_equal(NCCL_TYPE_BFLOAT16, ncclBfloat16);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
    assert_int_equal(NCCL_TYPE_FLOAT8E4M3, ncclFloat8e4m3);
    assert_int_equal(NCCL_TYPE_FLOAT8E5M2, ncclFloat8e5m2);
#endif
}

TEST(nccl_layouts_are_those_of_the_header)
{
    ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;

    assert_int_equal(sizeof(struct nccl_id), sizeof(ncclUniqueId));
    assert_int_equal(theirs.magic, NCCL_CONFIG_MAGIC);
    assert_int_equal(theirs.blocking, NCCL_CONFIG_UNSET);
    PLACE(nccl_config, blocking, ncclConfig_t, blocking);
    PLACE(nccl_config, net_name, ncclConfig_t, netName);
    PLACE(nccl_config, size, ncclConfig_t, size);
    PLACE(nccl_config, magic, ncclConfig_t, magic);
    PLACE(nccl_config, version, ncclConfig_t, version);
    PLACE(nccl_config, cga_cluster_size, ncclConfig_t, cgaClusterSize);
    PLACE(nccl_config, min_ctas, ncclConfig_t, minCTAs);
    PLACE(nccl_config, max_ctas, ncclConfig_t, maxCTAs);
    PLACE(nccl_config, split_share, ncclConfig_t, splitShare);
}

/* Members that came after 2.18. */
TEST(the_newer_config_is_that_of_the_header)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;

    assert_int_equal(NCCL_WINDOW_SYMMETRIC, NCCL_WIN_COLL_SYMMETRIC);
    assert_true(NCCL_CONFIG_VERSION <= theirs.version);
    assert_true(NCCL_CONFIG_BYTES <= theirs.size);
    PLACE(nccl_config, traffic_class, ncclConfig_t, trafficClass);
    PLACE(nccl_config, comm_name, ncclConfig_t, commName);
    PLACE(nccl_config, collnet_enable, ncclConfig_t, collnetEnable);
    PLACE(nccl_config, cta_policy, ncclConfig_t, CTAPolicy);
    PLACE(nccl_config, shrink_share, ncclConfig_t, shrinkShare);
    PLACE(nccl_config, nvls_ctas, ncclConfig_t, nvlsCTAs);
    PLACE(nccl_config, n_channels_per_net_peer, ncclConfig_t, nChannelsPerNetPeer);
    PLACE(nccl_config, nvlink_centric_sched, ncclConfig_t, nvlinkCentricSched);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 0)
    assert_true(sizeof(struct nccl_config) <= theirs.size);
    PLACE(nccl_config, graph_usage_mode, ncclConfig_t, graphUsageMode);
    PLACE(nccl_config, max_p2p_peers, ncclConfig_t, maxP2pPeers);
    PLACE(nccl_config, graph_stream_ordering, ncclConfig_t, graphStreamOrdering);
#endif
}
