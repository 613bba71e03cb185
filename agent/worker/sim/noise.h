/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - how far simulated times are off the model, as factors
 * (docs/reference/simulation.md, "Noise")
 *
 * Each is a function of a seed and of what it is for: the same on every rank, in every
 * run, however long anything takes. */
#ifndef RINGBENCH_WORKER_SIM_NOISE_H
#define RINGBENCH_WORKER_SIM_NOISE_H

#include <stdint.h>

#include "agent/worker/sim/sim_params.h"
#include "common/spec/collective.h"

/* A new seed for the part `key` of what `seed` is for. */
uint64_t noise_split(uint64_t seed, uint64_t key);

/* Above 0, at most 1: number `key` of those that `seed` is for. */
double noise_uniform(uint64_t seed, uint64_t key);

/* From the normal distribution with mean 0 and standard deviation 1. */
double noise_normal(uint64_t seed);

/* Of everything in case `number` of the run: the run's own part, the drift, the case's.
 */
double noise_of_case(const struct sim_params *params, uint64_t seed, uint64_t number);

/* The seed of what happens within that case. */
uint64_t noise_seed(const struct sim_params *params, uint64_t seed, uint64_t number);

/* seed: as noise_seed returned. Of all calls of one size; of the mean of `n` calls from
 * number `call` on. */
double noise_of_row(const struct sim_params *params, uint64_t seed,
                    enum collective_kind kind, double bytes);
double noise_of_calls(const struct sim_params *params, uint64_t seed, uint64_t call,
                      long n, int rank);

/* How late a rank comes to a call, in us, though nothing delays it. */
double noise_of_host(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank);

#endif
