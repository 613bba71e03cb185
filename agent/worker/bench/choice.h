/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - NCCL's choice for a collective: algorithm, protocol, channels (row field
 * `nccl`) */
#ifndef RINGBENCH_WORKER_BENCH_CHOICE_H
#define RINGBENCH_WORKER_BENCH_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/spec/collective.h"

/* Texts are NCCL's own names. All zero: not known. */
struct choice {
    char algo[16];       /* "RING"; "P2P" for sends and receives; "": not known */
    char proto[24];      /* "LL128"; "": none */
    char by[12];         /* the source: NCCL's "profiler", or the simulation's "model" */
    bool ranks_differ;   /* the ranks' choices differ, which is an error in NCCL */
    bool is_unrequested; /* NCCL_ALGO or NCCL_PROTO excludes this choice */
    int channels;        /* 0: not known */
};

/* Merge another rank's choice. Keep the larger number of channels: with P2P, ranks may
 * use different numbers. */
void choice_add(struct choice *choice, const struct choice *other);

/* True if a value of NCCL_ALGO or NCCL_PROTO (NULL: not set) allows `name` for the
 * collective. Values are like "Ring,Tree", "^Tree", "ring;allreduce:tree"; case and '_'
 * in names are ignored. */
bool choice_is_requested(const char *setting, enum collective_kind kind,
                         const char *name);

/* {"algo","proto","channels","by","ranks_differ","unrequested"}, without unknown members.
 * NULL if the algorithm is not known. */
json_t *choice_json(const struct choice *choice);

#endif
