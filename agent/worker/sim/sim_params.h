/* SPDX-License-Identifier: Apache-2.0 */
/* sim_params.h - the environment variables of a simulation: SIM_* and NCCL_ALGO.
 * --list-parameters and docs/reference/simulation.md show the same table of variables. */
#ifndef RINGBENCH_WORKER_SIM_SIM_PARAMS_H
#define RINGBENCH_WORKER_SIM_SIM_PARAMS_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

/* SIM_P2P stands for collectives that NCCL builds from sends and receives. NCCL_ALGO
 * cannot select it. */
enum sim_algorithm { SIM_RING, SIM_TREE, SIM_P2P, SIM_ALGORITHMS };

struct sim_params {
    double base_us;        /* latency of a call before its first step, in us */
    double step_us[2];     /* latency per step of ring and tree, in us */
    double gbs[2];         /* bus bandwidth of ring and tree */
    double noise;          /* standard deviation of the logarithm of a call's time */
    double case_noise;     /* like `noise`, but per case; negative: half of `noise` */
    double run_noise;      /* like `noise`, but per run */
    double drift;          /* relative growth of all times per night */
    double night;          /* number of this run among the runs with the same seed */
    double sleep_fraction; /* ratio of the time slept to the simulated time */
    double seed;           /* negative: use the seed of the run */
    unsigned algorithms;   /* bit mask of the allowed algorithms, ring and tree */
    const char *slow;      /* PLACE:FACTOR,...; borrowed from the environment */
};

/* Set the defaults, or one variable, whose value must outlive *params. Names without the
 * prefix SIM_ are ignored, except NCCL_ALGO. ERROR_INVALID names an unknown variable or a
 * wrong value. */
void sim_params_init(struct sim_params *params);
int sim_params_set(struct sim_params *params, const char *name, const char *value,
                   struct error *err);

/* `environment` is a NULL-terminated array of "NAME=VALUE" entries. */
int sim_params_read(char *const *environment, struct sim_params *out, struct error *err);

/* One PLACE:FACTOR of SIM_SLOW; the place is borrowed, not terminated. */
struct sim_slow {
    const char *place;
    size_t place_len;
    double factor;          /* factor on the bandwidth; 0: ranks there hang */
    double from_case, last; /* first and last case in which the factor applies */
};

/* Parse the next item and advance *list. Returns 1 for an item, 0 at the end of the list,
 * -1 if the item is malformed. */
int sim_slow_next(const char **list, struct sim_slow *out);
int sim_slow_malformed(struct error *err, const char *name, const char *list);

/* "RING", "TREE" or "P2P". */
const char *sim_algorithm_name(enum sim_algorithm algorithm);

/* Print the variables as the documentation lists them. */
void sim_params_print(FILE *out);

#endif
