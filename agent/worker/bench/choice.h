/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - how a collective was done, as far as the library that did it tells: the row
 * field `nccl` */
#ifndef RINGBENCH_WORKER_BENCH_CHOICE_H
#define RINGBENCH_WORKER_BENCH_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/spec/collective.h"

/* Texts are NCCL's own names. Zeroed it says nothing. */
struct choice {
    char algo[16];       /* "RING"; sends and receives are "P2P"; "": not known */
    char proto[24];      /* "LL128"; "": it has none */
    char by[12];         /* its source: NCCL's "profiler", or the simulation's "model" */
    bool ranks_differ;   /* they should not */
    bool is_unrequested; /* NCCL_ALGO or NCCL_PROTO asks for another */
    int channels;        /* 0: not known */
};

/* Take up what another rank says. What ranks send and receive may go over different
 * numbers of channels: the largest counts. */
void choice_add(struct choice *choice, const struct choice *other);

/* Whether a value of NCCL_ALGO or NCCL_PROTO (NULL: it is not set) leaves `name` to
 * choose for the collective: "Ring,Tree", "^Tree", "ring;allreduce:tree". Case and '_' of
 * names do not count. */
bool choice_is_requested(const char *setting, enum collective_kind kind,
                         const char *name);

/* {"algo","proto","channels","by","ranks_differ","unrequested"}, without what is not
 * known; NULL without an algorithm. */
json_t *choice_json(const struct choice *choice);

#endif
