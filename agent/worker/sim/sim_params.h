/* SPDX-License-Identifier: Apache-2.0 */
/* sim_params.h - the environment variables of a simulation: SIM_* and NCCL_ALGO.
 * --list-parameters and docs/reference/simulation.md show the same table of variables. */
#ifndef RINGBENCH_WORKER_SIM_SIM_PARAMS_H
#define RINGBENCH_WORKER_SIM_SIM_PARAMS_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

/* P2P: collectives that NCCL builds from sends and receives. Not for NCCL_ALGO. */
enum sim_algorithm { SIM_RING, SIM_TREE, SIM_P2P, SIM_ALGORITHMS };

struct sim_params {
    double base_us;        /* latency of a call before its first step */
    double step_us[2];     /* latency per step, of ring and tree */
    double gbs[2];         /* bus bandwidth of ring and tree */
    double noise;          /* sigma of the logarithm of a call's time */
    double case_noise;     /* the same per case; negative: half of noise */
    double run_noise;      /* the same per run */
    double drift;          /* relative growth of all times per night */
    double night;          /* number of the run among those with the same seed */
    double sleep_fraction; /* ratio of time to sleep to simulated time */
    double seed;           /* negative: use the run's seed */
    unsigned algorithms;   /* bit mask of the allowed algorithms, ring and tree */
    const char *slow;      /* PLACE:FACTOR,...; borrowed from the environment */
};

/* Set the defaults, or one variable, whose value must outlive *params. Names without the
 * prefix SIM_ are ignored, except NCCL_ALGO. ERROR_INVALID names an unknown variable or a
 * wrong value. */
void sim_params_init(struct sim_params *params);
int sim_params_set(struct sim_params *params, const char *name, const char *value,
                   struct error *err);

/* environment: entries "NAME=VALUE", ends with NULL. */
int sim_params_read(char *const *environment, struct sim_params *out, struct error *err);

/* One PLACE:FACTOR of SIM_SLOW; the place is borrowed, not terminated. */
struct sim_slow {
    const char *place;
    size_t place_len;
    double factor;          /* on the bandwidth; 0: ranks there hang */
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
