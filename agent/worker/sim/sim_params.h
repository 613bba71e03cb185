/* sim_params.h - the environment variables of a simulated run: SIM_*, NCCL_ALGO,
 * NCCL_PROTO (docs/simulation.md lists them) */
#ifndef RINGBENCH_WORKER_SIM_SIM_PARAMS_H
#define RINGBENCH_WORKER_SIM_SIM_PARAMS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/error.h"

enum sim_algorithm { SIM_RING, SIM_TREE, SIM_PAT, SIM_P2P, SIM_ALGORITHMS };
enum sim_protocol { SIM_LL, SIM_LL128, SIM_SIMPLE, SIM_PROTOCOLS };

struct sim_params {
    double base_us;             /* of a call */
    double latency_us;          /* of a hop between nodes */
    double intra_latency_us;    /* of a hop within a node */
    double overhead_us;         /* of a step when there are several nodes */
    double message_us;          /* of each peer in point-to-point collectives */
    double first_us;            /* more for the first call of a collective */
    double bandwidth_gbs;       /* a node to the network, each way */
    double intra_bandwidth_gbs; /* a rank to the others of its node, each way */
    double channels;            /* among which NCCL's ring divides a message */
    double noise;               /* sigma of the logarithm of a call's time */
    double case_noise;          /* the same of a case; negative: a part of noise */
    double run_noise;           /* the same of a run */
    double night;               /* its number among runs with one seed */
    double correlation;         /* of the run noise of two nights in a row */
    double drift;               /* part by which all takes longer each night */
    double outliers;            /* part of the cases that ... */
    double outlier_factor;      /* ... take so many times as long */
    double states;              /* part of the cases in a slow state ... */
    double state_factor;        /* ... in which all takes so many times as long ... */
    double state_cases;         /* ... and which is drawn anew after so many cases */
    double sleep_fraction;      /* of the modelled time that really passes */
    double memory_gib;          /* of a rank */
    double seed;                /* negative: the case's */
    /* Latency, and the greatest bus bandwidth, of a ring or tree; negative: the model's.
     */
    double algorithm_us[SIM_ALGORITHMS], algorithm_gbs[SIM_ALGORITHMS];
    unsigned algorithms; /* bit mask: those that may be chosen, and P2P */
    unsigned protocols;
    /* Lists of NAME:VALUE; borrowed from the environment, NULL: none. */
    const char *slow_nodes, *slow_ranks, *slow_links, *wrong_interfaces, *changes;
};

/* Read the variables among `environment` ("NAME=VALUE", ends with NULL), which must
 * outlive *out. ERROR_INVALID names the variable that is unknown or wrong. */
int sim_params_read(char *const *environment, struct sim_params *out, struct error *err);

/* "RING", "TREE", "PAT", "P2P"; "LL", "LL128", "SIMPLE". */
const char *sim_algorithm_name(enum sim_algorithm algorithm);
const char *sim_protocol_name(enum sim_protocol protocol);

/* One NAME:VALUE of a list: name borrowed, not terminated. */
struct sim_item {
    const char *name;
    size_t name_len;
    double value;
};

/* Take the next item off *list; 1: there was one, 0: the list is at its end, -1: it is
 * malformed. */
int sim_list_next(const char **list, struct sim_item *out);

/* An item of `changes`: its name is a case's number, or seconds followed by an s. Returns
 * whether it is one of them. */
bool sim_change_read(const struct sim_item *item, double *at, bool *is_seconds);

/* The variables with their defaults and meaning, as the documentation lists them. */
void sim_params_print(FILE *out);

#endif
