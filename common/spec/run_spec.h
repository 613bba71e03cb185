/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec.h - parses and validates the run spec of POST /runs */
#ifndef RINGBENCH_COMMON_SPEC_RUN_SPEC_H
#define RINGBENCH_COMMON_SPEC_RUN_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/problem.h"
#include "common/spec/collective.h"
#include "common/spec/series.h"
#include "common/spec/split.h"
#include "common/spec/traffic.h"

struct spec_fields;

#define RUN_SPEC_SIZES_MAX 4096
#define RUN_SPEC_NAME_MAX 200
#define RUN_SPEC_REASON_MAX 2000
#define RUN_SPEC_NOISE_LIMIT 0.1
#define RUN_SPEC_ITERS_USUAL 20 /* default of `iters`, as in nccl-tests */

enum run_timing { TIMING_THROUGHPUT, TIMING_ISOLATED };
/* The CPUs to which each rank is bound. */
enum run_bind { BIND_AUTO, BIND_CORE, BIND_NUMA, BIND_NONE };
enum run_order { ORDER_INTERLEAVED, ORDER_SEQUENTIAL };
/* The groups of nodes that measure together, see server/plan/plan.h. */
enum run_pattern { PATTERN_ALL, PATTERN_PAIRS, PATTERN_SCALING };

/* The effect of preflight findings on the run's start. */
enum run_preflight { RUN_PREFLIGHT_WARN, RUN_PREFLIGHT_REQUIRE, RUN_PREFLIGHT_OFF };

/* Whether NCCL dumps the topology that it detects. */
enum run_topology { RUN_TOPOLOGY_OFF, RUN_TOPOLOGY_DUMP };

#define RUN_FILE_MAX 65536
/* Variables whose value is a file that the run may provide; ends with NULL. */
extern const char *const run_file_names[];

/* The host backend's transport between hosts. */
enum host_transport { HOST_TRANSPORT_AUTO, HOST_TRANSPORT_TCP, HOST_TRANSPORT_UCX };

#define HOST_SOCKETS_MAX 8

struct host_options {
    json_t *given; /* object: the members as given */
    enum host_transport transport;
    long sockets; /* number per peer on another host; 0: chosen from the link's speed */
};

/* How buffers are registered with NCCL: nccl-tests' -R 0, 1 and 2. */
enum nccl_registration {
    NCCL_REGISTRATION_NONE,
    NCCL_REGISTRATION_LOCAL,
    NCCL_REGISTRATION_SYMMETRIC
};
enum nccl_stream { NCCL_STREAM_OWN, NCCL_STREAM_NULL };

/* Options for the NCCL backend only. */
struct nccl_options {
    json_t *given; /* object: the members as given */
    enum nccl_registration registration;
    int cta_policy;          /* value of ncclConfig_t.CTAPolicy; nccl-tests' -x */
    enum nccl_stream stream; /* stream of the calls; nccl-tests' -y */
    /* number of launches of the calls as a CUDA graph, nccl-tests' -G; 0: no graph */
    long graph;
};

/* The number of blocks of timed calls per row. A row ends once the 95 % interval of its
 * blocks' median is within `rel` of the median on either side. */
struct run_samples {
    long min, max; /* limits for the number of blocks */
    double rel;
    double max_s; /* time limit in seconds for the blocks beyond `min` */
};

#define RUN_SPEC_LAST_MIN 5 /* with fewer runs, their scatter cannot be estimated */
#define RUN_SPEC_LAST_MAX 32

/* What comparable runs must have in common: the nodes, or only the hardware. */
enum run_likeness { LIKE_NODES, LIKE_HARDWARE };
extern const char *const run_likeness_names[]; /* ends with NULL */

struct run_spec {
    char *name;
    json_t *labels; /* object of strings */
    long priority;
    bool background; /* the run starts after all others and is cancelled in their favor */
    char *backend;   /* "auto" or a worker's backend: see run_backend_is_usual */
    enum collective_kind collectives[COLLECTIVE_COUNT];
    size_t n_collectives;
    enum dtype dtypes[DTYPE_COUNT];
    size_t n_dtypes;
    enum redop redops[REDOP_COUNT];
    size_t n_redops;
    uint64_t *sizes; /* expanded list of the requested sizes, bytes */
    size_t n_sizes;
    long root; /* -1: each rank is the root once */
    bool out_of_place, in_place;
    long iters;      /* timed calls of a row; 0: as many blocks as needed */
    double block_ms; /* length of a block, see run_spec_block_us() */
    struct run_samples samples;
    double noise_limit; /* limit of a row's uncertainty, see common/result/noise.h */
    long warmup, agg_iters, check, repeats;
    long cycles;   /* repetitions of all rows with the same communicator */
    long blocking; /* when to wait or synchronize after calls, 0 to 3; nccl-tests' -z */
    long unalign;  /* elements by which the buffers are shifted */
    bool per_iter; /* also report the time of each iteration, without barriers between
                      them */
    enum run_timing timing;
    enum run_bind bind;
    struct {
        /* 0: not set; if `count` is not set, the run uses all idle nodes */
        long count, min, max;
        json_t *names;  /* array of strings, or NULL */
        char *group;    /* or NULL */
        json_t *labels; /* object of strings, or NULL */
        long wait_s;
    } nodes;
    enum run_pattern pattern;
    long rounds;     /* number of rounds of pairs; 0: chosen by the plan */
    bool concurrent; /* run groups of the pattern on different nodes at the same time */
    long ranks_per_node; /* 0: all ranks that each node offers */
    json_t *env;         /* object of strings */
    json_t *files;       /* object: contents keyed by run_file_names, or NULL */
    enum run_topology topology;
    json_t *matrix;       /* object: arrays of strings and nulls, see run_matrix.h */
    enum run_order order; /* order of the matrix's cases */
    struct {
        /* NULL for a run of collectives; otherwise the collectives' fields are unused */
        char *name;
        json_t *args; /* object: the arguments as given */
    } program;
    struct split split;     /* several communicators at once */
    struct traffic traffic; /* bytes between ranks, for alltoallv */
    /* array of device numbers, or an object of these arrays by node; NULL: any device */
    json_t *devices;
    char *nccl_lib; /* path of a libnccl that the nodes list, or NULL */
    struct nccl_options nccl;
    struct {
        char *name;   /* the server's launcher that gets the nodes, or NULL */
        json_t *args; /* object: the arguments as given */
        long wait_s;  /* limit of the wait for the job, seconds from the run's creation */
    } launch;
    struct host_options host;
    bool share;
    bool avoid_suspects;
    enum run_preflight preflight;
    json_t *fault; /* object or NULL: passed to workers, which use it in tests only */
    struct {
        json_t *given; /* object, or NULL: no comparison */
        long last;     /* number of similar runs; 0: the accepted baseline */
        enum run_likeness like;
    } baseline;
    /* Limits in percent. Smaller differences do not count as a change (margin), as a slow
     * node, link or rack (slow), or as a late rank (late). */
    double margin_percent, slow_percent, late_percent;
    /* pattern pairs: the figure that is slow when all nodes measure together, or NULL */
    char *slow_together;
    json_t *thresholds; /* object: checks by name, see threshold.h */
    long timeout_s, stall_s;
    long join_s; /* 0: use the server's default */
};

/* Validate a request. Return a new spec, or NULL after adding all errors to *problems,
 * each with its JSON pointer. The body is borrowed. */
struct run_spec *run_spec_parse(json_t *body, struct problems *problems);

void run_spec_destroy(struct run_spec *spec);

/* Parse the spec's fields in a case file (docs/development/worker-contract.md). Return a
 * new spec, or NULL with the first error. */
struct run_spec *run_spec_read_case(json_t *file, struct error *err);

/* Return the devices requested on a node: an array of numbers, borrowed; NULL: any. */
const json_t *run_spec_devices_of(const struct run_spec *spec, const char *node);

/* Return true if a backend is "auto" or part of ringbench. Other backends come with
 * agents. */
bool run_backend_is_usual(const char *name);
const char *run_bind_name(enum run_bind bind);
const char *run_pattern_name(enum run_pattern pattern);
/* Return BIND_AUTO for NULL or an unknown name. */
enum run_bind run_bind_lookup(const char *name);
const char *nccl_registration_name(enum nccl_registration registration);

/* Return the length of a block of timed calls if `iters` is auto: block_ms, but at least
 * 20 calls, or 100 ms if 20 calls take longer. In `isolated` timing, return one call. */
double run_spec_block_us(const struct run_spec *spec, double call_us);

/* Return the parameters of the spec's rows, except world_size and n_groups. Their arrays
 * are borrowed from the spec. */
struct series_plan run_spec_plan(const struct run_spec *spec);

/* Return the effective spec with every default filled in, which run_spec_parse() accepts
 * unchanged. The result is a new reference. */
json_t *run_spec_to_json(const struct run_spec *spec);

/* Return a new reference to the part of the spec that a case file contains; see
 * run_spec_read_case(). */
json_t *run_spec_case_json(const struct run_spec *spec);

/* Return the members of an effective spec that affect figures and differ from their
 * defaults. The result is a new object. */
json_t *run_spec_settings(const json_t *spec);

/* The table of fields, see spec_field.h. */
const struct spec_fields *run_spec_fields(void);

#endif
