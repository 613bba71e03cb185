/* test_nccl_abi.c - the worker's declarations of CUDA and NCCL agree with their headers
 */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/nccl_abi.h"
#include "tests/unit/test.h"

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
    assert_int_equal(sizeof(cudaError_t), sizeof(int));
}

TEST(cuda_layouts_are_those_of_the_header)
{
    assert_int_equal(offsetof(struct cuda_properties, name),
                     offsetof(struct cudaDeviceProp, name));
    assert_int_equal(offsetof(struct cuda_properties, uuid),
                     offsetof(struct cudaDeviceProp, uuid));
    assert_int_equal(offsetof(struct cuda_properties, total_bytes),
                     offsetof(struct cudaDeviceProp, totalGlobalMem));
    assert_true(sizeof(struct cuda_properties) >= sizeof(struct cudaDeviceProp));
    assert_int_equal(sizeof(struct cuda_dim3), sizeof(dim3));
    assert_int_equal(offsetof(struct cuda_dim3, z), offsetof(dim3, z));
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
    assert_int_equal(offsetof(struct nccl_config, blocking),
                     offsetof(ncclConfig_t, blocking));
    assert_int_equal(offsetof(struct nccl_config, net_name),
                     offsetof(ncclConfig_t, netName));
    assert_int_equal(offsetof(struct nccl_config, size), offsetof(ncclConfig_t, size));
    assert_int_equal(offsetof(struct nccl_config, magic), offsetof(ncclConfig_t, magic));
    assert_int_equal(offsetof(struct nccl_config, version),
                     offsetof(ncclConfig_t, version));
    assert_int_equal(offsetof(struct nccl_config, cga_cluster_size),
                     offsetof(ncclConfig_t, cgaClusterSize));
    assert_int_equal(offsetof(struct nccl_config, min_ctas),
                     offsetof(ncclConfig_t, minCTAs));
    assert_int_equal(offsetof(struct nccl_config, max_ctas),
                     offsetof(ncclConfig_t, maxCTAs));
    assert_int_equal(offsetof(struct nccl_config, split_share),
                     offsetof(ncclConfig_t, splitShare));
}

/* Members that came after 2.18. */
TEST(the_newer_config_is_that_of_the_header)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;

    assert_int_equal(NCCL_WINDOW_SYMMETRIC, NCCL_WIN_COLL_SYMMETRIC);
    assert_true(NCCL_CONFIG_VERSION <= theirs.version);
    assert_true(NCCL_CONFIG_BYTES <= theirs.size);
    assert_int_equal(offsetof(struct nccl_config, traffic_class),
                     offsetof(ncclConfig_t, trafficClass));
    assert_int_equal(offsetof(struct nccl_config, comm_name),
                     offsetof(ncclConfig_t, commName));
    assert_int_equal(offsetof(struct nccl_config, collnet_enable),
                     offsetof(ncclConfig_t, collnetEnable));
    assert_int_equal(offsetof(struct nccl_config, cta_policy),
                     offsetof(ncclConfig_t, CTAPolicy));
    assert_int_equal(offsetof(struct nccl_config, shrink_share),
                     offsetof(ncclConfig_t, shrinkShare));
    assert_int_equal(offsetof(struct nccl_config, nvls_ctas),
                     offsetof(ncclConfig_t, nvlsCTAs));
    assert_int_equal(offsetof(struct nccl_config, n_channels_per_net_peer),
                     offsetof(ncclConfig_t, nChannelsPerNetPeer));
    assert_int_equal(offsetof(struct nccl_config, nvlink_centric_sched),
                     offsetof(ncclConfig_t, nvlinkCentricSched));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 0)
    assert_true(sizeof(struct nccl_config) <= theirs.size);
    assert_int_equal(offsetof(struct nccl_config, graph_usage_mode),
                     offsetof(ncclConfig_t, graphUsageMode));
    assert_int_equal(offsetof(struct nccl_config, max_p2p_peers),
                     offsetof(ncclConfig_t, maxP2pPeers));
    assert_int_equal(offsetof(struct nccl_config, graph_stream_ordering),
                     offsetof(ncclConfig_t, graphStreamOrdering));
#endif
}

TEST(what_is_simulated_is_that_of_the_header)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
    ncclSimInfo_t theirs = NCCL_SIM_INFO_INITIALIZER;

    assert_int_equal(theirs.magic, NCCL_SIM_INFO_MAGIC);
    assert_int_equal(sizeof(struct nccl_sim_info), sizeof(theirs));
    assert_int_equal(offsetof(struct nccl_sim_info, estimated_us),
                     offsetof(ncclSimInfo_t, estimatedTime));
#endif
}
