/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_nccl.c - parses a run's options for the NCCL backend, and checks them against
 * its timing */
#include <stdio.h>
#include <string.h>

#include "common/spec/run_spec_parts.h"

#define GRAPH_MAX 1000000
/* maximum timed iterations per row, because one line contains all their times */
#define PER_ITER_MAX 50000

static const char *const registrations[] = {"none", "local", "symmetric", NULL};
static const char *const policies[] = {"default", "efficiency", "zero", NULL};
static const char *const streams[] = {"own", "null", NULL};

static const struct spec_field table[] = {
    {"registration", "\"none\"", 0, SPEC_CHOICE(nccl.registration, registrations),
     .option = "R local_register", .about = "registration of the buffers with NCCL"},
    {"cta_policy", "\"default\"", 0, SPEC_CHOICE(nccl.cta_policy, policies),
     .option = "x cta_policy", .about = "the CTA policy of the communicator"},
    {"stream", "\"own\"", 0, SPEC_CHOICE(nccl.stream, streams), .option = "y stream_null",
     .about = "the stream of the calls"},
    {"graph", "0", 0, SPEC_INTEGER(nccl.graph, 0, GRAPH_MAX), .option = "G cudagraph",
     .about = "launches of a CUDA graph of the timed calls; 0: no graph"},
};

const struct spec_fields spec_nccl_fields = {table, sizeof(table) / sizeof(table[0]),
                                             "an object"};

const char *nccl_registration_name(enum nccl_registration registration)
{
    return registrations[registration];
}

static void check_per_iter(const struct run_spec *spec, struct problems *problems)
{
    long most = spec->iters > 0 ? spec->iters : RUN_SPEC_ITERS_USUAL * spec->samples.max;

    if (spec->timing == TIMING_ISOLATED)
        problems_add(
            problems, "/per_iter",
            "applies only to timing throughput: isolated times each iteration anyway");
    if (spec->nccl.graph > 0)
        problems_add(
            problems, "/per_iter",
            "cannot be combined with nccl.graph, whose calls are not timed one by one");
    if (most > PER_ITER_MAX)
        problems_add(problems, "/per_iter",
                     "allows at most %d iterations per row, not %ld (iters, or %d times "
                     "samples.max)",
                     PER_ITER_MAX, most, RUN_SPEC_ITERS_USUAL);
}

void run_spec_check_nccl(const struct run_spec *spec, struct problems *problems)
{
    bool is_isolated = spec->timing == TIMING_ISOLATED;

    if (is_isolated && spec->blocking != 0)
        problems_add(problems, "/blocking",
                     "applies only to timing throughput: isolated waits and has a "
                     "barrier already");
    if (spec->per_iter)
        check_per_iter(spec, problems);
    if (spec->nccl.graph == 0)
        return;
    if (is_isolated)
        problems_add(problems, "/nccl/graph",
                     "applies only to timing throughput: a graph's calls are not timed "
                     "one by one");
    if (spec->blocking != 0)
        problems_add(
            problems, "/nccl/graph",
            "cannot be combined with blocking: no call can be awaited during capture");
    if (spec->nccl.stream == NCCL_STREAM_NULL)
        problems_add(problems, "/nccl/graph",
                     "cannot be combined with stream null, which CUDA cannot capture");
}
