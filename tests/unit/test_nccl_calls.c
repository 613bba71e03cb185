/* test_nccl_calls.c - what the worker calls in CUDA and NCCL is what their headers
 * declare
 *
 * Each function here has the type that the worker gives the library's, and hands its
 * arguments on in a call that is never made: what the compiler takes without a warning
 * has as many parameters, in that order. Enumerations are int to the worker. */
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "agent/worker/nccl/cuda_lib.h"
#include "agent/worker/nccl/nccl_lib.h"
#include "tests/unit/test.h"

static const char *cuda_error_string(int code)
{
    return sizeof(cudaGetErrorString(code)) ? "" : NULL;
}

static int cuda_runtime_version(int *out)
{
    return (int)sizeof(cudaRuntimeGetVersion(out));
}

static int cuda_driver_version(int *out)
{
    return (int)sizeof(cudaDriverGetVersion(out));
}

static int cuda_device_count(int *out)
{
    return (int)sizeof(cudaGetDeviceCount(out));
}

static int cuda_set_device(int device)
{
    return (int)sizeof(cudaSetDevice(device));
}

static int cuda_attribute(int *out, int attribute, int device)
{
    return (int)sizeof(cudaDeviceGetAttribute(out, attribute, device));
}

static int cuda_pci_bus_id(char *text, int len, int device)
{
    return (int)sizeof(cudaDeviceGetPCIBusId(text, len, device));
}

static int cuda_mem_info(size_t *left, size_t *total)
{
    return (int)sizeof(cudaMemGetInfo(left, total));
}

static int cuda_malloc(void **out, size_t bytes)
{
    return (int)sizeof(cudaMalloc(out, bytes));
}

static int cuda_free(void *memory)
{
    return (int)sizeof(cudaFree(memory));
}

static int cuda_memcpy_async(void *to, const void *from, size_t len, int kind,
                             cuda_stream stream)
{
    return (int)sizeof(cudaMemcpyAsync(to, from, len, kind, stream));
}

static int cuda_memset_async(void *to, int byte, size_t len, cuda_stream stream)
{
    return (int)sizeof(cudaMemsetAsync(to, byte, len, stream));
}

static int cuda_stream_create(cuda_stream *out, unsigned flags)
{
    return (int)sizeof(cudaStreamCreateWithFlags(out, flags));
}

static int cuda_stream_destroy(cuda_stream stream)
{
    return (int)sizeof(cudaStreamDestroy(stream));
}

static int cuda_stream_query(cuda_stream stream)
{
    return (int)sizeof(cudaStreamQuery(stream));
}

static int cuda_event_create(cuda_event *out)
{
    return (int)sizeof(cudaEventCreate(out));
}

static int cuda_event_destroy(cuda_event event)
{
    return (int)sizeof(cudaEventDestroy(event));
}

static int cuda_event_record(cuda_event event, cuda_stream stream)
{
    return (int)sizeof(cudaEventRecord(event, stream));
}

static int cuda_event_query(cuda_event event)
{
    return (int)sizeof(cudaEventQuery(event));
}

static int cuda_event_elapsed_ms(float *ms, cuda_event start, cuda_event end)
{
    return (int)sizeof(cudaEventElapsedTime(ms, start, end));
}

static int cuda_get_last_error(void)
{
    return (int)sizeof(cudaGetLastError());
}

static int cuda_capture_begin(cuda_stream stream, int mode)
{
    return (int)sizeof(cudaStreamBeginCapture(stream, mode));
}

static int cuda_capture_end(cuda_stream stream, cuda_graph *out)
{
    return (int)sizeof(cudaStreamEndCapture(stream, out));
}

static int cuda_graph_instantiate(cuda_graph_exec *out, cuda_graph graph,
                                  unsigned long long flags)
{
    return (int)sizeof(cudaGraphInstantiateWithFlags(out, graph, flags));
}

static int cuda_graph_launch(cuda_graph_exec exec, cuda_stream stream)
{
    return (int)sizeof(cudaGraphLaunch(exec, stream));
}

static int cuda_graph_exec_destroy(cuda_graph_exec exec)
{
    return (int)sizeof(cudaGraphExecDestroy(exec));
}

static int cuda_graph_destroy(cuda_graph graph)
{
    return (int)sizeof(cudaGraphDestroy(graph));
}

static int cuda_properties_of(struct cuda_properties *out, int device)
{
    return (int)sizeof(
        cudaGetDeviceProperties((struct cudaDeviceProp *)(void *)out, device));
}

static int cuda_launch_kernel(const void *kernel, struct cuda_dim3 grid,
                              struct cuda_dim3 block, void **arguments, size_t shared,
                              cuda_stream stream)
{
    dim3 blocks = {grid.x, grid.y, grid.z}, threads = {block.x, block.y, block.z};

    (void)blocks;
    (void)threads;
    return (int)sizeof(
        cudaLaunchKernel(kernel, blocks, threads, arguments, shared, stream));
}

#if CUDART_VERSION >= 12080
static int cuda_library_load_data(cuda_library *out, const void *image, void *jit,
                                  void **jit_values, unsigned n_jit, void *options,
                                  void **option_values, unsigned n_options)
{
    return (int)sizeof(cudaLibraryLoadData(out, image, jit, jit_values, n_jit, options,
                                           option_values, n_options));
}

static int cuda_library_get_kernel(cuda_kernel *out, cuda_library library,
                                   const char *name)
{
    return (int)sizeof(cudaLibraryGetKernel(out, library, name));
}
#endif

static int nccl_get_unique_id(struct nccl_id *out)
{
    return (int)sizeof(ncclGetUniqueId((ncclUniqueId *)(void *)out));
}

static int nccl_init_rank(nccl_comm *out, int n, struct nccl_id id, int rank,
                          struct nccl_config *config)
{
    ncclUniqueId theirs;

    memcpy(&theirs, &id, sizeof(theirs));
    return (int)sizeof(
        ncclCommInitRankConfig(out, n, theirs, rank, (ncclConfig_t *)(void *)config));
}

static int nccl_async_error(nccl_comm comm, int *out)
{
    return (int)sizeof(ncclCommGetAsyncError(comm, (ncclResult_t *)(void *)out));
}

static int nccl_premul_create(int *op, void *scalar, int type, int residence,
                              nccl_comm comm)
{
    return (int)sizeof(ncclRedOpCreatePreMulSum((ncclRedOp_t *)(void *)op, scalar, type,
                                                residence, comm));
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 23, 0)
static int nccl_init_rank_scalable(nccl_comm *out, int n, int rank, int n_ids,
                                   struct nccl_id *ids, struct nccl_config *config)
{
    return (int)sizeof(ncclCommInitRankScalable(out, n, rank, n_ids,
                                                (ncclUniqueId *)(void *)ids,
                                                (ncclConfig_t *)(void *)config));
}
#endif

static int nccl_get_version(int *out)
{
    return (int)sizeof(ncclGetVersion(out));
}

static const char *nccl_error_string(int result)
{
    return sizeof(ncclGetErrorString(result)) ? "" : NULL;
}

static const char *nccl_last_error_of(nccl_comm comm)
{
    return sizeof(ncclGetLastError(comm)) ? "" : NULL;
}

static int nccl_destroy(nccl_comm comm)
{
    return (int)sizeof(ncclCommDestroy(comm));
}

static int nccl_abort(nccl_comm comm)
{
    return (int)sizeof(ncclCommAbort(comm));
}

static int nccl_group_start(void)
{
    return (int)sizeof(ncclGroupStart());
}

static int nccl_group_end(void)
{
    return (int)sizeof(ncclGroupEnd());
}

static int nccl_premul_destroy(int op, nccl_comm comm)
{
    return (int)sizeof(ncclRedOpDestroy(op, comm));
}

static int nccl_all_reduce(const void *send, void *recv, size_t count, int type, int op,
                           nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclAllReduce(send, recv, count, type, op, comm, stream));
}

static int nccl_all_gather(const void *send, void *recv, size_t count, int type,
                           nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclAllGather(send, recv, count, type, comm, stream));
}

static int nccl_reduce_scatter(const void *send, void *recv, size_t count, int type,
                               int op, nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclReduceScatter(send, recv, count, type, op, comm, stream));
}

static int nccl_broadcast(const void *send, void *recv, size_t count, int type, int root,
                          nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclBroadcast(send, recv, count, type, root, comm, stream));
}

static int nccl_reduce(const void *send, void *recv, size_t count, int type, int op,
                       int root, nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclReduce(send, recv, count, type, op, root, comm, stream));
}

static int nccl_send(const void *send, size_t count, int type, int peer, nccl_comm comm,
                     cuda_stream stream)
{
    return (int)sizeof(ncclSend(send, count, type, peer, comm, stream));
}

static int nccl_recv(void *recv, size_t count, int type, int peer, nccl_comm comm,
                     cuda_stream stream)
{
    return (int)sizeof(ncclRecv(recv, count, type, peer, comm, stream));
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
static int nccl_group_simulate_end(struct nccl_sim_info *info)
{
    return (int)sizeof(ncclGroupSimulateEnd((ncclSimInfo_t *)info));
}
#endif

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void nccl_reset_debug(void)
{
    if (0)
        ncclResetDebugInit();
}
#pragma GCC diagnostic pop
#endif

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
static int nccl_mem_alloc(void **out, size_t bytes)
{
    return (int)sizeof(ncclMemAlloc(out, bytes));
}

static int nccl_mem_free(void *memory)
{
    return (int)sizeof(ncclMemFree(memory));
}

static int nccl_register_buffer(nccl_comm comm, void *memory, size_t bytes, void **handle)
{
    return (int)sizeof(ncclCommRegister(comm, memory, bytes, handle));
}

static int nccl_deregister_buffer(nccl_comm comm, void *handle)
{
    return (int)sizeof(ncclCommDeregister(comm, handle));
}

#endif

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
static int nccl_register_window(nccl_comm comm, void *memory, size_t bytes,
                                nccl_window *window, int flags)
{
    return (int)sizeof(ncclCommWindowRegister(comm, memory, bytes, window, flags));
}

static int nccl_deregister_window(nccl_comm comm, nccl_window window)
{
    return (int)sizeof(ncclCommWindowDeregister(comm, window));
}

#endif

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
static int nccl_alltoall(const void *send, void *recv, size_t count, int type,
                         nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclAlltoAll(send, recv, count, type, comm, stream));
}

static int nccl_gather(const void *send, void *recv, size_t count, int type, int root,
                       nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclGather(send, recv, count, type, root, comm, stream));
}

static int nccl_scatter(const void *send, void *recv, size_t count, int type, int root,
                        nccl_comm comm, cuda_stream stream)
{
    return (int)sizeof(ncclScatter(send, recv, count, type, root, comm, stream));
}

#endif

/* The worker's tables take them: number, order and types of parameters agree. */
static const struct cuda_functions cuda_all = {
    .error_string = cuda_error_string,
    .runtime_version = cuda_runtime_version,
    .driver_version = cuda_driver_version,
    .device_count = cuda_device_count,
    .set_device = cuda_set_device,
    .attribute = cuda_attribute,
    .pci_bus_id = cuda_pci_bus_id,
    .mem_info = cuda_mem_info,
    .malloc = cuda_malloc,
    .free = cuda_free,
    .memcpy_async = cuda_memcpy_async,
    .memset_async = cuda_memset_async,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_query = cuda_stream_query,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_query = cuda_event_query,
    .event_elapsed_ms = cuda_event_elapsed_ms,
    .get_last_error = cuda_get_last_error,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .graph_instantiate = cuda_graph_instantiate,
    .graph_launch = cuda_graph_launch,
    .graph_exec_destroy = cuda_graph_exec_destroy,
    .graph_destroy = cuda_graph_destroy,
    .properties = cuda_properties_of,
    .launch_kernel = cuda_launch_kernel,
#if CUDART_VERSION >= 12080
    .library_load_data = cuda_library_load_data,
    .library_get_kernel = cuda_library_get_kernel,
#endif
};

static const struct nccl_functions nccl_all = {
    .get_unique_id = nccl_get_unique_id,
    .init_rank = nccl_init_rank,
    .async_error = nccl_async_error,
    .premul_create = nccl_premul_create,
    .get_version = nccl_get_version,
    .error_string = nccl_error_string,
    .last_error = nccl_last_error_of,
    .destroy = nccl_destroy,
    .abort = nccl_abort,
    .group_start = nccl_group_start,
    .group_end = nccl_group_end,
    .premul_destroy = nccl_premul_destroy,
    .all_reduce = nccl_all_reduce,
    .all_gather = nccl_all_gather,
    .reduce_scatter = nccl_reduce_scatter,
    .broadcast = nccl_broadcast,
    .reduce = nccl_reduce,
    .send = nccl_send,
    .recv = nccl_recv,
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
    .mem_alloc = nccl_mem_alloc,
    .mem_free = nccl_mem_free,
    .register_buffer = nccl_register_buffer,
    .deregister_buffer = nccl_deregister_buffer,
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 0)
    .group_simulate_end = nccl_group_simulate_end,
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
    .reset_debug = nccl_reset_debug,
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    .register_window = nccl_register_window,
    .deregister_window = nccl_deregister_window,
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    .alltoall = nccl_alltoall,
    .gather = nccl_gather,
    .scatter = nccl_scatter,
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 23, 0)
    .init_rank_scalable = nccl_init_rank_scalable,
#endif
};

/* An enumeration is passed as an int is. */
TEST(enumerations_are_as_large_as_int)
{
    assert_int_equal(sizeof(cudaError_t), sizeof(int));
    assert_int_equal(sizeof(enum cudaDeviceAttr), sizeof(int));
    assert_int_equal(sizeof(enum cudaMemcpyKind), sizeof(int));
    assert_int_equal(sizeof(enum cudaStreamCaptureMode), sizeof(int));
    assert_int_equal(sizeof(ncclResult_t), sizeof(int));
    assert_int_equal(sizeof(ncclDataType_t), sizeof(int));
    assert_int_equal(sizeof(ncclRedOp_t), sizeof(int));
    assert_int_equal(sizeof(ncclScalarResidence_t), sizeof(int));
}

/* None is left out: a new member must be compared, too. */
TEST(every_function_is_compared)
{
    const unsigned char *at = (const unsigned char *)&cuda_all;
    void *none = NULL;

    (void)nccl_all;
#if CUDART_VERSION >= 12080
    for (size_t i = 0; i < offsetof(struct cuda_functions, emulated); i += sizeof(none))
        assert_memory_not_equal(at + i, &none, sizeof(none));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
    at = (const unsigned char *)&nccl_all;
    for (size_t i = 0; i < offsetof(struct nccl_functions, emulated); i += sizeof(none))
        assert_memory_not_equal(at + i, &none, sizeof(none));
#endif
    (void)at;
}
