/* SPDX-License-Identifier: Apache-2.0 */
/* data_job.h - the arguments of the data kernels (data_kernels.cu) */
#ifndef RINGBENCH_WORKER_NCCL_DATA_JOB_H
#define RINGBENCH_WORKER_NCCL_DATA_JOB_H

#include <stdint.h>

#include "agent/worker/data/pattern_math.h"

#define DATA_PUT_INPUT "ringbench_put_input"
#define DATA_FIND_WRONG "ringbench_find_wrong"

/* The result of find_wrong. Initialize `first` with the end of the range. */
struct data_findings {
    unsigned long long count, first;
};

struct data_job {
    struct pattern pattern; /* a pattern whose tables are in device memory */
    enum collective_kind kind;
    int rank, root;
    uint64_t call_count;
    uint64_t first, end; /* elements */
    uint64_t ulps;
    bool is_untouched; /* see struct backend_untouched */
    uint64_t bytes, own, own_end;
    void *data;
    struct data_findings *findings;
};

#endif
