/* cuda_lib.c - the CUDA Runtime, loaded at run time */
#include "agent/worker/nccl/cuda_lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/nccl/shared_object.h"

#define FUNCTION(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct cuda_functions, member), false, NULL                       \
    }
#define OPTIONAL(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct cuda_functions, member), true, NULL                        \
    }

static const char *const library_names[] = {
    "libcudart.so.13", "libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.13",
    "/usr/local/cuda/lib64/libcudart.so.12", NULL};

static const struct shared_symbol symbols[] = {
    FUNCTION(error_string, "cudaGetErrorString"),
    FUNCTION(runtime_version, "cudaRuntimeGetVersion"),
    FUNCTION(driver_version, "cudaDriverGetVersion"),
    FUNCTION(device_count, "cudaGetDeviceCount"),
    FUNCTION(set_device, "cudaSetDevice"),
    {"cudaGetDeviceProperties_v2", offsetof(struct cuda_functions, properties), false,
     "cudaGetDeviceProperties"},
    FUNCTION(pci_bus_id, "cudaDeviceGetPCIBusId"),
    FUNCTION(mem_info, "cudaMemGetInfo"),
    FUNCTION(malloc, "cudaMalloc"),
    FUNCTION(free, "cudaFree"),
    FUNCTION(memcpy_async, "cudaMemcpyAsync"),
    FUNCTION(memset_async, "cudaMemsetAsync"),
    FUNCTION(stream_create, "cudaStreamCreateWithFlags"),
    FUNCTION(stream_destroy, "cudaStreamDestroy"),
    FUNCTION(stream_query, "cudaStreamQuery"),
    FUNCTION(event_create, "cudaEventCreate"),
    FUNCTION(event_destroy, "cudaEventDestroy"),
    FUNCTION(event_record, "cudaEventRecord"),
    FUNCTION(event_query, "cudaEventQuery"),
    FUNCTION(event_elapsed_ms, "cudaEventElapsedTime"),
    FUNCTION(get_last_error, "cudaGetLastError"),
    FUNCTION(capture_begin, "cudaStreamBeginCapture"),
    FUNCTION(capture_end, "cudaStreamEndCapture"),
    FUNCTION(graph_instantiate, "cudaGraphInstantiateWithFlags"),
    FUNCTION(graph_launch, "cudaGraphLaunch"),
    FUNCTION(graph_exec_destroy, "cudaGraphExecDestroy"),
    FUNCTION(graph_destroy, "cudaGraphDestroy"),
    FUNCTION(launch_kernel, "cudaLaunchKernel"),
    OPTIONAL(library_load_data, "cudaLibraryLoadData"),
    OPTIONAL(library_get_kernel, "cudaLibraryGetKernel"),
    OPTIONAL(emulated, "ringbench_emulated"),
};

static int load(struct cuda_lib *cuda, struct error *err)
{
    void *handle = shared_object_open(getenv("RINGBENCH_CUDART_LIB"), library_names, err);

    if (!handle || shared_object_bind(handle, symbols, sizeof(symbols) / sizeof(*symbols),
                                      &cuda->call, err)) {
        return -1;
    }
    cuda->call.runtime_version(&cuda->runtime);
    cuda->call.driver_version(&cuda->driver);
    cuda->is_emulated = cuda->call.emulated != NULL;
    cuda->path = shared_object_path(*(void **)&cuda->call.runtime_version);
    return 0;
}

int cuda_lib_load(struct cuda_lib *cuda, struct error *err)
{
    struct error why = {0};

    memset(cuda, 0, sizeof(*cuda));
    if (load(cuda, &why)) {
        return error_set(err, ERROR_UNSUPPORTED, "CUDA runtime: %s", why.text);
    }
    return 0;
}

int cuda_failed(const struct cuda_lib *cuda, int code, const char *what,
                struct error *err)
{
    /* Not every failure lasts: take it away, so that a later call does not report it. */
    cuda->call.get_last_error();
    return error_set(err, code == CUDA_ERROR_MEMORY_CODE ? ERROR_MEMORY : ERROR_INTERNAL,
                     "%s: %s (CUDA error %d)", what, cuda->call.error_string(code), code);
}

const char *cuda_version_text(int version, char text[CUDA_VERSION_TEXT_MAX])
{
    snprintf(text, CUDA_VERSION_TEXT_MAX, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}
