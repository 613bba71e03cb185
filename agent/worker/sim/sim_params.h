/* SPDX-License-Identifier: Apache-2.0 */
/* sim_params.h - the variables of a simulated run: SIM_* and NCCL_ALGO, one table that
 * --list-parameters and docs/reference/simulation.md show */
#ifndef RINGBENCH_WORKER_SIM_SIM_PARAMS_H
#define RINGBENCH_WORKER_SIM_SIM_PARAMS_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

/* P2P: collectives that NCCL does by single messages; nobody chooses it. */
enum sim_algorithm { SIM_RING, SIM_TREE, SIM_P2P, SIM_ALGORITHMS };

struct sim_params {
    double base_us;        /* of a call, before its first step */
    double step_us[2];     /* by ring and by tree */
    double gbs[2];         /* bus bandwidth by ring and by tree */
    double noise;          /* sigma of the logarithm of a call's time */
    double case_noise;     /* the same of a case; negative: half of noise */
    double run_noise;      /* the same of a run */
    double drift;          /* part by which everything takes longer each night */
    double night;          /* the run's number among those with one seed */
    double sleep_fraction; /* of the modelled time that really passes */
    double seed;           /* negative: the run's */
    unsigned algorithms;   /* bit mask: which of ring and tree may be chosen */
    const char *slow;      /* PLACE:FACTOR,...; borrowed from the environment */
};

/* Defaults, and one variable, whose value must outlive *params; names of others are
 * passed over. ERROR_INVALID names the variable that is unknown or wrong. */
void sim_params_init(struct sim_params *params);
int sim_params_set(struct sim_params *params, const char *name, const char *value,
                   struct error *err);

/* The same of an `environment` ("NAME=VALUE", ends with NULL). */
int sim_params_read(char *const *environment, struct sim_params *out, struct error *err);

/* One PLACE:FACTOR of SIM_SLOW; the place is borrowed, not terminated. */
struct sim_slow {
    const char *place;
    size_t place_len;
    double factor;          /* of the bandwidth; 0: nothing passes */
    double from_case, last; /* cases that it is for */
};

/* Take the next item off *list; 1: there was one, 0: the list is at its end, -1: it is
 * malformed. */
int sim_slow_next(const char **list, struct sim_slow *out);
int sim_slow_malformed(struct error *err, const char *name, const char *list);

/* "RING", "TREE", "P2P". */
const char *sim_algorithm_name(enum sim_algorithm algorithm);

/* The variables with their defaults and meaning, as the documentation lists them. */
void sim_params_print(FILE *out);

#endif
