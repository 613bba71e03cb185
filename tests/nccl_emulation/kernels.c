/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - the data kernels of the emulated CUDA runtime, compiled for the CPU from
 * the source that nvcc compiles for GPUs */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nccl_emulation/cudart.h"
#include "tests/nccl_emulation/device.h"
#include "tests/nccl_emulation/settings.h"
#include "tests/nccl_emulation/stream.h"

#include "agent/worker/nccl/data_kernels.cu"

_Thread_local struct cuda_dim3 gridDim, blockDim, blockIdx, threadIdx;

struct CUfunc_st {
    const char *name;
    void (*run)(struct data_job job);
};

static struct CUfunc_st kernels[] = {{DATA_PUT_INPUT, ringbench_put_input},
                                     {DATA_FIND_WRONG, ringbench_find_wrong}};
/* A kernel of an unusable image whose failure shows only at launch. */
static struct CUfunc_st no_kernel = {"", NULL};

struct launch {
    const struct CUfunc_st *kernel;
    struct cuda_dim3 grid, block;
    struct data_job job;
};

/* A driver rejects a fatbin of a newer nvcc, and PTX above its own version: 8.x in
 * CUDA 12.x and 7.x in 11.x (PTX ISA, release notes). */
static bool can_load(const char *image)
{
    const char *version =
        strncmp(image, "//", 2) == 0 ? strstr(image, "\n.version ") : NULL;
    int driver;

    if (emulation_setting("no_kernels", 0))
        return false;
    cudaDriverGetVersion(&driver);
    return version ? atoi(version + 10) <= driver / 1000 - 4
                   : !emulation_setting("no_fatbin", 0);
}

int cuModuleLoadData(cuda_module *out, const void *image)
{
    bool is_of_use = can_load(image);

    *out = (cuda_module)(void *)(is_of_use ? kernels : &no_kernel);
    return is_of_use || emulation_setting("lazy_kernels", 0) ? CUDA_SUCCESS_CODE
                                                             : CUDA_ERROR_NO_IMAGE_CODE;
}

int cuModuleGetFunction(cuda_function *out, cuda_module module, const char *name)
{
    if ((void *)module == (void *)&no_kernel) {
        *out = &no_kernel;
        return CUDA_SUCCESS_CODE;
    }
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            *out = &kernels[i];
            return CUDA_SUCCESS_CODE;
        }
    }
    return CUDA_ERROR_NOT_FOUND_CODE;
}

static void run_all_threads(void *arg)
{
    const struct launch *launch = arg;

    gridDim = launch->grid;
    blockDim = launch->block;
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++)
            launch->kernel->run(launch->job);
}

static void *copy_launch(const void *arg)
{
    struct launch *launch = malloc(sizeof(*launch));

    if (launch)
        *launch = *(const struct launch *)arg;
    return launch;
}

static const struct emulated_work launch_work = {run_all_threads, copy_launch, free};

/* The driver's function has 11 parameters. NOLINTNEXTLINE(readability-function-size) */
int cuLaunchKernel(cuda_function kernel, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, cuda_stream stream, void **arguments,
                   void **more)
{
    struct launch *launch;

    (void)shared_bytes;
    (void)more;
    if (kernel == &no_kernel)
        return CUDA_ERROR_NO_IMAGE_CODE;
    launch = malloc(sizeof(*launch));
    if (!launch)
        return CUDA_ERROR_MEMORY_CODE;
    launch->kernel = kernel;
    launch->grid = (struct cuda_dim3){grid_x, grid_y, grid_z};
    launch->block = (struct cuda_dim3){block_x, block_y, block_z};
    memcpy(&launch->job, arguments[0], sizeof(launch->job));
    return emulated_stream_enqueue(stream, &launch_work, launch);
}
