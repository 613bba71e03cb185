/* run_spec.h - what a run asks for: the one parser and validator of POST /runs */
#ifndef RINGBENCH_COMMON_RUN_SPEC_H
#define RINGBENCH_COMMON_RUN_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/collective.h"
#include "common/control.h"
#include "common/problem.h"
#include "common/split.h"
#include "common/traffic.h"

#define RUN_SPEC_SIZES_MAX 4096
#define RUN_SPEC_NAME_MAX 200

enum run_timing { TIMING_THROUGHPUT, TIMING_ISOLATED };

struct run_spec {
    char *name;
    json_t *labels; /* object of strings */
    long priority;
    char *backend; /* "auto", "nccl", "host", "sim" */
    enum collective_kind collectives[COLLECTIVE_COUNT];
    size_t n_collectives; /* 0 only where `control` has something to measure */
    enum dtype dtypes[DTYPE_COUNT];
    size_t n_dtypes;
    enum redop redops[REDOP_COUNT];
    size_t n_redops;
    uint64_t *sizes; /* bytes, as asked, expanded */
    size_t n_sizes;
    long root; /* -1: every rank in turn */
    bool out_of_place, in_place;
    long iters, warmup, agg_iters, check, repeats;
    long cycles;   /* of all rows, with the communicator kept */
    long blocking; /* nccl-tests' -z */
    long unalign;  /* elements that the buffers are shifted by */
    bool per_iter; /* time each iteration too, back to back */
    enum run_timing timing;
    struct {
        long count, min, max; /* 0 = unset; count unset = all idle nodes */
        json_t *names;        /* array of strings, or NULL */
        char *group;          /* or NULL */
        json_t *labels;       /* object of strings, or NULL */
        long wait_s;
    } nodes;
    long ranks_per_node; /* 0 = all */
    json_t *env;         /* object: string values */
    json_t *matrix;      /* object: arrays of strings and nulls, see run_matrix.h */
    bool is_interleaved; /* order of the matrix's cases */
    struct {
        char *name; /* NULL: the run measures collectives; else their fields are unused */
        json_t *args; /* object: the arguments as given */
    } program;
    struct control_plan control;
    struct split split;     /* several communicators at once */
    struct traffic traffic; /* of alltoallv */
    bool has_traffic;       /* it was given */
    json_t *devices;        /* array of numbers, object of such by node, or NULL: any */
    char *nccl_lib;         /* path of a libnccl that the nodes list, or NULL */
    json_t *nccl;           /* object, or NULL: heeded by the NCCL backend */
    bool share;
    json_t *fault; /* object or NULL: passed to workers, which heed it in tests only */
    long timeout_s, stall_s;
};

/* Validate a request. Returns a new spec, or NULL after adding to *problems every fault
 * found, each with its JSON pointer. The body is borrowed. */
struct run_spec *run_spec_parse(json_t *body, struct problems *problems);

void run_spec_destroy(struct run_spec *spec);

/* The devices that the run wants on a node: an array of numbers, borrowed; NULL: any. */
const json_t *run_spec_devices_of(const struct run_spec *spec, const char *node);

/* The effective spec, every default filled in; run_spec_parse accepts it unchanged.
 * A new reference; NULL when memory is out. */
json_t *run_spec_to_json(const struct run_spec *spec);

/* The case file of docs/worker-contract.md without run, case, attempt, world_size and
 * ranks, which the caller adds. A new reference; NULL when memory is out. */
json_t *run_spec_case_json(const struct run_spec *spec);

#endif
