/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - random deviations of simulated times from the model, as factors
 * (docs/reference/simulation.md, "Noise")
 *
 * Each value is a pure function of a seed and its other arguments. All ranks, and
 * repeated runs, therefore compute the same values. */
#ifndef RINGBENCH_WORKER_SIM_NOISE_H
#define RINGBENCH_WORKER_SIM_NOISE_H

#include <stdint.h>

#include "agent/worker/sim/sim_params.h"
#include "common/spec/collective.h"

uint64_t noise_split(uint64_t seed, uint64_t key);

/* Return a uniformly distributed number greater than 0 and at most 1. */
double noise_uniform(uint64_t seed, uint64_t key);

/* Return a normally distributed number with mean 0 and standard deviation 1. */
double noise_normal(uint64_t seed);

/* Return the factor on all times of case `number`, from the noise of the run, the drift
 * and the noise of the case. */
double noise_of_case(const struct sim_params *params, uint64_t seed, uint64_t number);

/* Return the seed for the noise within case `number`. */
uint64_t noise_seed(const struct sim_params *params, uint64_t seed, uint64_t number);

/* seed: from noise_seed. noise_of_row: factor on all calls of one size. noise_of_calls:
 * factor on the mean of `n` calls, starting with number `call`. */
double noise_of_row(const struct sim_params *params, uint64_t seed,
                    enum collective_kind kind, double bytes);
double noise_of_calls(const struct sim_params *params, uint64_t seed, uint64_t call,
                      long n, int rank);

/* Return a rank's random lateness before a call, in us. */
double noise_of_host(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank);

#endif
