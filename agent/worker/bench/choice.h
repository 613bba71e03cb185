/* choice.h - how a collective was done, as far as the library that did it tells: the row
 * field `nccl` */
#ifndef RINGBENCH_WORKER_BENCH_CHOICE_H
#define RINGBENCH_WORKER_BENCH_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

/* Texts are NCCL's own names. Zeroed it says nothing. */
struct choice {
    char algo[16];     /* "RING"; sends and receives are "P2P"; "": not known */
    char proto[24];    /* "LL128"; of symmetric kernels which one; "": has none */
    char by[12];       /* who said so: "profiler", "log", "model"; "table": it is what
                        * NCCL will have done, by what it chooses by */
    bool ranks_differ; /* they should not */
    int channels;      /* 0: not known */
    float expected_us; /* how long the library expects a call to take; 0: not known */
};

/* Take up what another rank says. What ranks send and receive may go over different
 * numbers of channels: the largest counts. */
void choice_add(struct choice *choice, const struct choice *other);

/* {"algo","proto","channels","by","expected_us","ranks_differ"} of what is known; NULL
 * where that is nothing. */
json_t *choice_json(const struct choice *choice);

#endif
