/* noise_parts.h - by what a simulated time is off the model's: as a factor, for what all
 * of a run or a case shares, what all calls of a size in it do, and what each call has
 * for itself. docs/simulation.md, "Noise". Pure. */
#ifndef RINGBENCH_WORKER_SIM_NOISE_PARTS_H
#define RINGBENCH_WORKER_SIM_NOISE_PARTS_H

#include <stdint.h>

#include "agent/worker/sim/sim_model.h"
#include "agent/worker/sim/sim_params.h"

/* seed: of all nights. What the run of params->night has for itself, and the drift. */
double noise_of_run(const struct sim_params *params, uint64_t seed);

/* The seed of that night; the first one's is `seed` itself. */
uint64_t noise_night(const struct sim_params *params, uint64_t seed);

/* seed: the run's; number: the case's. Two states last from one case to the next. */
double noise_of_case(const struct sim_params *params, uint64_t seed, uint64_t number);

/* seed: the case's, noise_split(the run's, number). */
double noise_of_row(const struct sim_params *params, uint64_t seed,
                    const struct sim_call *call);
double noise_of_call(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank);

/* How late a rank comes to a call, in us, though nothing keeps it. */
double noise_of_host(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank);

#endif
