/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_probe.c - report what the NCCL backend supports on this machine */
#include "agent/worker/nccl/nccl_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/worker/nccl/gpu_facts.h"
#include "agent/worker/nccl/nccl_kernels.h"
#include "agent/worker/nccl/nvml.h"
#include "common/base/memory.h"

struct backend_libraries *nccl_probe_load(void)
{
    struct backend_libraries *loaded = memory_zeroed(1, sizeof(*loaded), "libraries");

    if (!cuda_lib_load(&loaded->cuda, &loaded->why))
        nccl_lib_load(&loaded->nccl, loaded->cuda.driver, &loaded->why);
    return loaded;
}

/* If /dev/nvidia-uvm is missing, CUDA runs the setuid program nvidia-modprobe, which
 * fails in a service with NoNewPrivileges. CUDA's error names no file. */
static int check_uvm(struct error *err)
{
    /* for tests: a directory that replaces / */
    const char *root = getenv("RINGBENCH_ROOT");
    char control[256], path[256];

    snprintf(control, sizeof(control), "%s/dev/nvidiactl", root ? root : "");
    snprintf(path, sizeof(path), "%s/dev/nvidia-uvm", root ? root : "");
    if (access(control, F_OK))
        return 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (errno == ENOENT) {
        return error_set(
            err, ERROR_UNSUPPORTED,
            "/dev/nvidia-uvm is missing. Fix: run nvidia-modprobe -u -c 0 as "
            "root");
    }
    return error_set(err, ERROR_UNSUPPORTED,
                     "/dev/nvidia-uvm: %s. Fix: let the agent's user, unit or container "
                     "use it",
                     strerror(errno));
}

int nccl_probe_devices(const struct cuda_lib *cuda, int *count, struct error *err)
{
    char text[CUDA_VERSION_TEXT_MAX];
    struct error why = {0};

    *count = 0; /* a failing call does not write *count */
    int code = cuda->call.device_count(count);
    if (code == 0 && *count > 0)
        return 0;
    cuda->call.get_last_error();
    if (code == CUDA_ERROR_INSUFFICIENT_DRIVER_CODE && cuda->driver == 0)
        return error_set(err, ERROR_UNSUPPORTED, "no NVIDIA driver is loaded here");
    if (code == CUDA_ERROR_INSUFFICIENT_DRIVER_CODE) {
        return error_set(err, ERROR_UNSUPPORTED,
                         "the NVIDIA driver is too old: it supports only CUDA %s",
                         cuda_version_text(cuda->driver, text));
    }
    if (check_uvm(&why)) {
        return error_set(err, ERROR_UNSUPPORTED, "%s (CUDA error %d: %s)", why.text, code,
                         cuda->call.error_string(code));
    }
    if (code == 0 || code == CUDA_ERROR_NO_DEVICE_CODE)
        return error_set(err, ERROR_UNSUPPORTED, "no GPU is visible to this process");
    return error_set(err, ERROR_UNSUPPORTED, "counting the GPUs: %s (CUDA error %d)",
                     cuda->call.error_string(code), code);
}

/* NCCL loads NVML to create a communicator, and fails without it. The tests' emulation of
 * NCCL needs NVML only if a test names a file. */
static int check_nvml(const struct nccl_lib *nccl, struct error *err)
{
    struct error why = {0};

    if ((nccl->is_emulated && !getenv("RINGBENCH_NVML_LIB")) || nvml_open(&why))
        return 0;
    return error_set(err, ERROR_UNSUPPORTED,
                     "NCCL needs NVML (libnvidia-ml.so.1): %s. Fix in a container: set "
                     "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                     why.text);
}

static void format_uuid(const unsigned char uuid[16], char text[48])
{
    size_t at = (size_t)snprintf(text, 48, "GPU-");

    for (int i = 0; i < 16; i++) {
        bool has_dash = i == 4 || i == 6 || i == 8 || i == 10;
        at +=
            (size_t)snprintf(text + at, 48 - at, "%s%02x", has_dash ? "-" : "", uuid[i]);
    }
}

static json_t *describe_device(const struct cuda_lib *cuda, int index)
{
    struct cuda_properties properties;
    char bus_id[32] = "", uuid[48];

    memset(&properties, 0, sizeof(properties));
    if (cuda->call.properties(&properties, index)) {
        cuda->call.get_last_error();
        return NULL;
    }
    cuda->call.pci_bus_id(bus_id, sizeof(bus_id), index);
    format_uuid(properties.uuid, uuid);
    return json_pack("{s:i, s:s, s:s, s:I, s:s, s:s}", "index", index, "name",
                     properties.name, "kind", "gpu", "memory_bytes",
                     (json_int_t)properties.total_bytes, "pci_bus_id", bus_id, "uuid",
                     uuid);
}

static void describe_libraries(json_t *probe, const struct cuda_lib *cuda,
                               const struct nccl_lib *nccl)
{
    char text[NCCL_VERSION_TEXT_MAX];

    if (nccl->version) {
        json_object_set_new(probe, "nccl_version",
                            json_string(nccl_version_text(nccl->version, text)));
        json_object_set_new(probe, "nccl_library", json_string(nccl->path));
        if (*nccl->cuda)
            json_object_set_new(probe, "nccl_cuda", json_string(nccl->cuda));
        if (*nccl->passed_over)
            json_object_set_new(probe, "nccl_passed_over",
                                json_string(nccl->passed_over));
    }
    if (cuda->runtime) {
        json_object_set_new(probe, "cuda_runtime",
                            json_string(cuda_version_text(cuda->runtime, text)));
        json_object_set_new(probe, "cuda_library", json_string(cuda->path));
    }
    if (cuda->driver) {
        json_object_set_new(probe, "cuda_driver",
                            json_string(cuda_version_text(cuda->driver, text)));
    }
    json_object_set_new(probe, "checks_on_gpu", json_boolean(nccl_kernels_image_len > 0));
}

json_t *nccl_probe_describe(const struct backend *backend)
{
    json_t *probe = json_object(), *devices = json_array(), *gpus = gpu_facts();
    const struct cuda_lib *cuda = &backend->loaded->cuda;
    const struct nccl_lib *nccl = &backend->loaded->nccl;
    struct error why = backend->loaded->why;
    int count = 0;

    bool is_available = why.code == ERROR_NONE &&
                        !nccl_probe_devices(cuda, &count, &why) &&
                        !check_nvml(nccl, &why);
    for (int i = 0; i < count; i++)
        json_array_append_new(devices, describe_device(cuda, i));
    json_object_set_new(probe, "available", json_boolean(is_available));
    json_object_set_new(probe, "reason",
                        is_available ? json_null() : json_string(why.text));
    json_object_set_new(probe, "devices", devices);
    if (gpus)
        json_object_set_new(probe, "gpus", gpus);
    describe_libraries(probe, cuda, nccl);
    return probe;
}
