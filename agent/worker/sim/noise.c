/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - random deviations of simulated times from the model */
#include "agent/worker/sim/noise.h"

#include <math.h>

#define TURN 6.283185307179586

/* Standard deviations of the parts of the noise, as multiples of SIM_NOISE. */
#define CASE_SIGMA 0.5 /* deviation per case, unless SIM_CASE_NOISE is set */
/* deviation per size within a case; more calls do not average it out */
#define ROW_SIGMA 0.5
/* per rank and call, for variations of the rank's clock and host */
#define RANK_SIGMA 0.25
#define HOST_SIGMA 25.0 /* deviation of a rank's lateness before a call, in us */

enum stream {
    STREAM_ROW = 1,
    STREAM_CALL,
    STREAM_RANK,
    STREAM_CASE,
    STREAM_RUN,
    STREAM_HOST
};

/* Finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014). */
uint64_t noise_split(uint64_t seed, uint64_t key)
{
    uint64_t z = seed + (key + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double noise_uniform(uint64_t seed, uint64_t key)
{
    return ((double)(noise_split(seed, key) >> 11) + 1) / 9007199254740992.0;
}

/* The Box-Muller transform. */
double noise_normal(uint64_t seed)
{
    return sqrt(-2 * log(noise_uniform(seed, 0))) * cos(TURN * noise_uniform(seed, 1));
}

static double factor(double sigma, uint64_t seed)
{
    return sigma > 0 ? exp(sigma * noise_normal(seed)) : 1;
}

static uint64_t seed_of_run(const struct sim_params *params, uint64_t seed)
{
    return noise_split(noise_split(seed, STREAM_RUN), (uint64_t)params->night);
}

double noise_of_case(const struct sim_params *params, uint64_t seed, uint64_t number)
{
    uint64_t run = seed_of_run(params, seed);
    double sigma =
        params->case_noise < 0 ? CASE_SIGMA * params->noise : params->case_noise;

    return factor(params->run_noise, run) * pow(1 + params->drift, params->night) *
           factor(sigma, noise_split(noise_split(run, STREAM_CASE), number));
}

uint64_t noise_seed(const struct sim_params *params, uint64_t seed, uint64_t number)
{
    return noise_split(seed_of_run(params, seed), number);
}

double noise_of_row(const struct sim_params *params, uint64_t seed,
                    enum collective_kind kind, double bytes)
{
    seed = noise_split(seed, STREAM_ROW);
    seed = noise_split(seed, (uint64_t)kind);
    return factor(ROW_SIGMA * params->noise, noise_split(seed, (uint64_t)bytes));
}

double noise_of_calls(const struct sim_params *params, uint64_t seed, uint64_t call,
                      long n, int rank)
{
    uint64_t shared = noise_split(noise_split(seed, STREAM_CALL), call);
    uint64_t own = noise_split(noise_split(seed, STREAM_RANK), call);
    double sigma = params->noise / sqrt((double)n);

    return factor(sigma, shared) *
           factor(RANK_SIGMA * sigma, noise_split(own, (uint64_t)rank));
}

double noise_of_host(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank)
{
    uint64_t own = noise_split(noise_split(seed, STREAM_HOST), call);

    own = noise_split(own, (uint64_t)rank);
    return HOST_SIGMA * params->noise * fabs(noise_normal(own));
}
