/* SPDX-License-Identifier: Apache-2.0 */
/* data_kernels.cu - fill buffers and check results in GPU memory
 *
 * Written in C, so that tests can compile this file for the CPU. */
#include "agent/worker/nccl/data_job.h"

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#endif

NUMERIC_FN uint64_t element_mask(unsigned element)
{
    return element == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * element)) - 1;
}

KERNEL ringbench_put_input(struct data_job job)
{
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    uint64_t at = job.first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (; at < job.end; at += step) {
        pattern_store(job.pattern.element, pattern_bits(&job.pattern, job.rank, at),
                      (char *)job.data + at * job.pattern.element);
    }
}

NUMERIC_FN uint64_t expected_bits(const struct data_job *job, uint64_t at)
{
    uint64_t from;
    int source;

    if (job->is_untouched) {
        return at >= job->own && at < job->own_end
                   ? pattern_bits(&job->pattern, job->rank, at - job->own)
                   : job->bytes;
    }
    pattern_source(job->kind, job->pattern.n, job->rank, job->root, job->call_count, at,
                   &source, &from);
    return pattern_bits(&job->pattern, source, from);
}

KERNEL ringbench_find_wrong(struct data_job job)
{
    const struct pattern *pattern = &job.pattern;
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    uint64_t at = job.first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t mask = element_mask(pattern->element);

    for (; at < job.end; at += step) {
        uint64_t expected = expected_bits(&job, at) & mask;
        uint64_t got = pattern_load(pattern->element,
                                    (const char *)job.data + at * pattern->element);
        if (pattern_bits_distance(pattern->type, pattern->is_float, pattern->element,
                                  expected, got) > job.ulps) {
            atomicAdd(&job.findings->count, 1ull);
            atomicMin(&job.findings->first, (unsigned long long)at);
        }
    }
}
