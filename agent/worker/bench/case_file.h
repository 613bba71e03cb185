/* SPDX-License-Identifier: Apache-2.0 */
/* case_file.h - the case that a worker is started for
 * (docs/development/worker-contract.md) */
#ifndef RINGBENCH_WORKER_BENCH_CASE_FILE_H
#define RINGBENCH_WORKER_BENCH_CASE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/spec/run_spec.h"
#include "common/spec/series.h"
#include "common/spec/split.h"

/* What follows each submission of calls in the timed loop; nccl-tests' -z. */
enum blocking {
    BLOCKING_NONE,
    BLOCKING_WAIT_BARRIER,  /* wait for it, then a barrier, both timed */
    BLOCKING_WAIT,          /* wait for it */
    BLOCKING_EACH_ITERATION /* wait, timed; then a barrier that is not */
};

/* What a test makes go wrong. */
enum fault_kind {
    FAULT_NONE,
    FAULT_WRONG,  /* one wrong element in a checked result */
    FAULT_DIE,    /* SIGKILL itself in the middle of a row */
    FAULT_HANG,   /* take no further part, until told to stop */
    FAULT_SLOW,   /* sleep before each operation */
    FAULT_NO_JOIN /* never join the store */
};

struct fault {
    enum fault_kind kind;
    int rank;
    uint64_t row, index;
    uint64_t op; /* hang, die: before this operation, counted from 1; 0: by row */
    long us;
};

struct case_file {
    char *run;          /* id */
    char *store_secret; /* what keys in the store begin with, or NULL */
    long number, attempt, repeat;
    int world_size;
    struct run_spec *spec;      /* as far as it stands in the file */
    struct split_groups groups; /* the communicators; mostly one */
    struct series_plan plan;    /* the rows; borrows the spec's arrays */
    uint64_t seed;
    struct fault fault;
    char **nodes; /* the node of each rank, or NULL where the case does not say */
};

/* Read a case. Without heed_faults a fault in it is refused. ERROR_INVALID names the
 * first field that is wrong. */
struct case_file *case_file_read(const char *path, bool heed_faults, struct error *err);
struct case_file *case_file_parse(json_t *json, bool heed_faults, struct error *err);
void case_file_destroy(struct case_file *file);

#endif
