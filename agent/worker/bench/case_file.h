/* SPDX-License-Identifier: Apache-2.0 */
/* case_file.h - read the case that a worker is started for
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

/* The step after each submission in the timed loop (option -z of nccl-tests). */
enum blocking {
    BLOCKING_NONE,
    BLOCKING_WAIT_BARRIER,  /* a wait and a barrier, both timed */
    BLOCKING_WAIT,          /* a wait, timed */
    BLOCKING_EACH_ITERATION /* a timed wait, then a barrier that is not timed */
};

/* Faults that a test injects into one rank. */
enum fault_kind {
    FAULT_NONE,
    FAULT_WRONG,  /* one wrong element in a checked result */
    FAULT_DIE,    /* SIGKILL itself in the middle of a row */
    FAULT_HANG,   /* make no calls until a stop is requested */
    FAULT_SLOW,   /* sleep before each operation */
    FAULT_NO_JOIN /* never join the store */
};

struct fault {
    enum fault_kind kind;
    int rank;
    uint64_t row, index;
    uint64_t op; /* FAULT_HANG, FAULT_DIE: act before this operation, counted from 1; 0:
                    use `row` */
    long us;     /* FAULT_SLOW: the delay */
};

struct case_file {
    char *run;          /* id */
    char *store_secret; /* prefix of the keys in the store, or NULL */
    long number, attempt, repeat;
    int world_size;
    struct run_spec *spec;      /* only members that the file contains are set */
    struct split_groups groups; /* one group per communicator; usually one */
    struct series_plan plan;    /* the rows; borrows the spec's arrays */
    uint64_t seed;
    struct fault fault;
    char **nodes; /* the node of each rank; NULL: not in the file */
};

/* Read a case. Unless allow_faults is set, a case with a fault is refused. ERROR_INVALID
 * names the first wrong field. */
struct case_file *case_file_read(const char *path, bool allow_faults, struct error *err);
struct case_file *case_file_parse(json_t *json, bool allow_faults, struct error *err);
void case_file_destroy(struct case_file *file);

#endif
