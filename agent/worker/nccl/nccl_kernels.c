/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_kernels.c - fill and check data on the GPU */
#include "agent/worker/nccl/nccl_kernels.h"

#include <stdlib.h>

#include "agent/worker/nccl/data_job.h"
#include "agent/worker/nccl/nccl_comm.h"
#include "common/base/log.h"

#define THREADS 256
#define BLOCKS_MAX 4096

static size_t table_bytes(const struct backend_comm *comm)
{
    return (size_t)comm->world_size * sizeof(double);
}

static int check_image(const struct backend_comm *comm, struct error *err)
{
    /* The tests' runtime has the kernels built in. */
    return nccl_kernels_image_len > 0 || comm->cuda.is_emulated
               ? 0
               : error_set(err, ERROR_UNSUPPORTED, "this program was built without nvcc");
}

/* Check on the host instead. Only rank 0 logs the reason. */
static int use_host(struct backend_comm *comm, const char *why)
{
    if (comm->rank == 0)
        log_warn(
            "results are checked on the host, at some hundred MB/s, instead of on the "
            "GPU: %s",
            why);
    return 0;
}

static int launch_kernel(struct backend_comm *comm, cuda_function kernel, unsigned blocks,
                         unsigned threads, struct data_job *job)
{
    void *arguments[] = {job};

    return GUARDED(comm->watchdog, "cuLaunchKernel",
                   comm->kernels.driver.launch_kernel(kernel, blocks, 1, 1, threads, 1, 1,
                                                      0, comm->stream, arguments, NULL));
}

/* CUDA may load kernels lazily, so only a launch shows whether this GPU has code. */
static int try_kernel(struct backend_comm *comm)
{
    struct data_job nothing = {.first = 0, .end = 0};

    return launch_kernel(comm, comm->kernels.find_wrong, 1, 1, &nothing);
}

static int load_module(struct backend_comm *comm, const void *image)
{
    struct nccl_kernels *kernels = &comm->kernels;
    const struct cuda_driver *driver = &kernels->driver;
    cuda_module module;

    int code = GUARDED(comm->watchdog, "cuModuleLoadData",
                       driver->module_load_data(&module, image));
    if (!code)
        code = driver->module_get_function(&kernels->put_input, module, DATA_PUT_INPUT);
    if (!code)
        code = driver->module_get_function(&kernels->find_wrong, module, DATA_FIND_WRONG);
    return code ? code : try_kernel(comm);
}

int kernels_load(struct backend_comm *comm, struct error *err)
{
    struct nccl_kernels *kernels = &comm->kernels;
    struct error why = {0};
    void *findings = NULL;

    if (check_image(comm, &why) || cuda_driver_load(&comm->cuda, &kernels->driver, &why))
        return use_host(comm, why.text);
    int code = load_module(comm, nccl_kernels_image);
    /* The driver may be older than the image. */
    if (code && nccl_kernels_ptx_len > 0)
        code = load_module(comm, nccl_kernels_ptx);
    if (code) {
        /* There is no code for this GPU. */
        kernels->put_input = kernels->find_wrong = NULL;
        return use_host(comm, comm->cuda.call.error_string(code));
    }
    code = comm_malloc(comm, &findings, sizeof(*kernels->findings));
    kernels->findings = findings;
    if (!code)
        code = comm_malloc(comm, &kernels->tables, 2 * table_bytes(comm));
    return comm_cuda(comm, code, "cudaMalloc for the check", err);
}

void kernels_unload(struct backend_comm *comm)
{
    if (comm->kernels.findings)
        comm_mem_free(comm, comm->kernels.findings);
    if (comm->kernels.tables)
        comm_mem_free(comm, comm->kernels.tables);
    comm->kernels = (struct nccl_kernels){0};
}

/* Copies the pattern's tables to the device. */
static int upload(struct backend_comm *comm, const struct pattern *pattern,
                  struct data_job *job, struct error *err)
{
    char *tables = comm->kernels.tables;
    size_t bytes = table_bytes(comm);

    job->pattern = *pattern;
    job->pattern.table = comm->kernels.tables;
    job->pattern.integers = (uint64_t *)(void *)(tables + bytes);
    return comm_write(comm, tables, pattern->table, bytes, err) ||
                   comm_write(comm, tables + bytes, pattern->integers, bytes, err)
               ? -1
               : 0;
}

static int launch(struct backend_comm *comm, cuda_function kernel, struct data_job *job,
                  const char *what, struct error *err)
{
    uint64_t blocks = (job->end - job->first + THREADS - 1) / THREADS;
    int code =
        launch_kernel(comm, kernel, (unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX),
                      THREADS, job);

    return comm_cuda(comm, code, what, err) || comm_wait(comm, err) ? -1 : 0;
}

int kernels_put_input(struct backend_comm *comm, const struct pattern *pattern, int rank,
                      size_t count, void *to, struct error *err)
{
    struct data_job job = {.rank = rank, .end = count, .data = to};

    if (!comm->kernels.put_input)
        return 1;
    if (upload(comm, pattern, &job, err))
        return -1;
    return launch(comm, comm->kernels.put_input, &job, "filling the send buffer", err);
}

int kernels_find_wrong(struct backend_comm *comm, const struct backend_compare *compare,
                       struct backend_wrong *out, struct error *err)
{
    const struct backend_call *call = compare->call;
    struct data_findings found = {0, compare->end};
    struct data_job job = {.kind = call->kind,
                           .rank = compare->rank,
                           .root = call->root,
                           .call_count = call->count,
                           .first = compare->first,
                           .end = compare->end,
                           .ulps = compare->ulps,
                           .data = call->recv,
                           .findings = comm->kernels.findings};

    if (!comm->kernels.find_wrong || call->traffic)
        return 1;
    *out = (struct backend_wrong){0};
    if (compare->first >= compare->end)
        return 0;
    if (compare->untouched) {
        job.is_untouched = true;
        job.bytes = compare->untouched->byte * (UINT64_MAX / 255);
        job.own = compare->untouched->own;
        job.own_end = compare->untouched->own_end;
    }
    if (upload(comm, compare->pattern, &job, err) ||
        comm_write(comm, job.findings, &found, sizeof(found), err) ||
        launch(comm, comm->kernels.find_wrong, &job, "checking the result", err) ||
        comm_read(comm, &found, job.findings, sizeof(found), err))
        return -1;
    *out = (struct backend_wrong){found.count, found.first};
    return 0;
}
