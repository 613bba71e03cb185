/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lib.c - load the CUDA Runtime and the driver's library at run time */
#include "agent/worker/nccl/cuda_lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/base/shared_object.h"

#define FUNCTION(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct cuda_functions, member), false, NULL                       \
    }
#define OPTIONAL(member, name)                                                           \
    {                                                                                    \
        name, offsetof(struct cuda_functions, member), true, NULL                        \
    }

static const char *const library_names[] = {"libcudart.so.13", "libcudart.so.12", NULL};
/* Fallback if the first library found needs a newer driver. */
static const char *const older_names[] = {"libcudart.so.12", NULL};

static const struct shared_symbol symbols[] = {
    FUNCTION(error_string, "cudaGetErrorString"),
    FUNCTION(runtime_version, "cudaRuntimeGetVersion"),
    FUNCTION(driver_version, "cudaDriverGetVersion"),
    FUNCTION(device_count, "cudaGetDeviceCount"),
    FUNCTION(set_device, "cudaSetDevice"),
    {"cudaGetDeviceProperties_v2", offsetof(struct cuda_functions, properties), false,
     "cudaGetDeviceProperties"},
    FUNCTION(attribute, "cudaDeviceGetAttribute"),
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
    OPTIONAL(emulated, "ringbench_emulated"),
};

static const struct shared_symbol driver_symbols[] = {
    {"cuModuleLoadData", offsetof(struct cuda_driver, module_load_data), false, NULL},
    {"cuModuleGetFunction", offsetof(struct cuda_driver, module_get_function), false,
     NULL},
    {"cuLaunchKernel", offsetof(struct cuda_driver, launch_kernel), false, NULL},
};

static int load(struct cuda_lib *cuda, const char *override, const char *const *names,
                struct error *err)
{
    void *handle = shared_object_open(override, names, NULL, NULL, err);

    memset(cuda, 0, sizeof(*cuda));
    if (!handle || shared_object_bind(handle, symbols, sizeof(symbols) / sizeof(*symbols),
                                      &cuda->call, err))
        return -1;
    cuda->call.runtime_version(&cuda->runtime);
    cuda->call.driver_version(&cuda->driver);
    cuda->is_emulated = cuda->call.emulated != NULL;
    cuda->path = shared_object_path(*(void **)&cuda->call.runtime_version);
    return 0;
}

/* A runtime needs a driver of at least its own major version. */
static bool is_too_new(const struct cuda_lib *cuda)
{
    return cuda->driver > 0 && cuda->runtime / 1000 > cuda->driver / 1000;
}

int cuda_lib_load(struct cuda_lib *cuda, struct error *err)
{
    const char *override = getenv("RINGBENCH_CUDART_LIB");
    struct error why = {0};
    struct cuda_lib older;

    if (load(cuda, override, library_names, &why))
        return error_set(err, ERROR_UNSUPPORTED, "CUDA runtime: %s", why.text);
    bool is_chosen = override && *override;
    if (!is_chosen && is_too_new(cuda) && !load(&older, NULL, older_names, NULL) &&
        !is_too_new(&older))
        *cuda = older;
    return 0;
}

int cuda_driver_load(const struct cuda_lib *cuda, struct cuda_driver *driver,
                     struct error *err)
{
    const char *name = cuda->is_emulated ? cuda->path : "libcuda.so.1";
    void *handle = shared_object_open(name, NULL, NULL, NULL, err);

    return handle ? shared_object_bind(handle, driver_symbols,
                                       sizeof(driver_symbols) / sizeof(*driver_symbols),
                                       driver, err)
                  : -1;
}

int cuda_failed(const struct cuda_lib *cuda, int code, const char *what,
                struct error *err)
{
    /* Clear the error, so that a later call does not report it again. */
    cuda->call.get_last_error();
    return error_set(err, code == CUDA_ERROR_MEMORY_CODE ? ERROR_MEMORY : ERROR_INTERNAL,
                     "%s: %s (CUDA error %d)", what, cuda->call.error_string(code), code);
}

const char *cuda_version_text(int version, char text[CUDA_VERSION_TEXT_MAX])
{
    snprintf(text, CUDA_VERSION_TEXT_MAX, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}
