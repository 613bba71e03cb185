/* case_file.h - the case that a worker is started for (docs/worker-contract.md) */
#ifndef RINGBENCH_WORKER_CASE_FILE_H
#define RINGBENCH_WORKER_CASE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/collective.h"
#include "common/control.h"
#include "common/error.h"
#include "common/run_spec.h"
#include "common/series.h"
#include "common/split.h"
#include "common/traffic.h"

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
    long us;
};

struct case_file {
    char *run;          /* id */
    char *store_secret; /* what keys in the store begin with, or NULL */
    long number, attempt, repeat;
    int world_size;
    enum collective_kind collectives[COLLECTIVE_COUNT];
    enum dtype dtypes[DTYPE_COUNT];
    enum redop redops[REDOP_COUNT];
    uint64_t *sizes;
    struct series_plan plan; /* borrows the arrays above */
    long iters, warmup, agg_iters, check, stall_s;
    long blocking; /* enum blocking */
    long unalign;  /* elements that the buffers are shifted by */
    bool per_iter; /* time each iteration too */
    enum run_timing timing;
    uint64_t seed;
    struct fault fault;
    struct control_plan control;
    json_t *nccl;               /* of the NCCL backend alone, or NULL */
    struct split_groups groups; /* the communicators; mostly one */
    struct traffic traffic;
    char **nodes; /* the node of each rank, or NULL where the case does not say */
};

/* Read a case. Without heed_faults a fault in it is ignored. ERROR_INVALID names the
 * first field that is wrong. */
struct case_file *case_file_read(const char *path, bool heed_faults, struct error *err);
struct case_file *case_file_parse(const json_t *json, bool heed_faults,
                                  struct error *err);
void case_file_destroy(struct case_file *file);

#endif
