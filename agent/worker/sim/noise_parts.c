/* noise_parts.c - by what a simulated time is off the model's */
#include "agent/worker/sim/noise_parts.h"

#include <math.h>
#include <stdbool.h>

#include "agent/worker/sim/noise.h"

/* Parts of the noise, relative to the parameter. */
#define CASE_SIGMA 0.5  /* of all of a case, unless it is told */
#define ROW_SIGMA 0.5   /* of a size in this case: what does not average out */
#define RANK_SIGMA 0.25 /* of a rank in one call: its clock and its host */
#define HOST_SIGMA 5.0  /* of the latency: of a host that is about to call */

enum stream {
    STREAM_ROW = 1,
    STREAM_CALL,
    STREAM_RANK,
    STREAM_CASE,
    STREAM_OUTLIER,
    STREAM_STATE,
    STREAM_SWITCH,
    STREAM_HOST
};

static double factor(double sigma, uint64_t seed)
{
    return sigma > 0 ? exp(sigma * noise_normal(seed)) : 1;
}

/* Whether what happens to `part` of the cases happens to this one. */
static bool happens(double part, uint64_t seed, enum stream stream, uint64_t number)
{
    return noise_uniform(noise_split(seed, stream), number) <= part;
}

/* The state was drawn in this case, or in an earlier one that it lasted from. */
static bool is_slow(const struct sim_params *params, uint64_t seed, uint64_t number)
{
    while (number > 0 && !happens(1 / params->state_cases, seed, STREAM_SWITCH, number))
        number--;
    return happens(params->states, seed, STREAM_STATE, number);
}

double noise_of_case(const struct sim_params *params, uint64_t seed, uint64_t number)
{
    double sigma =
        params->case_noise < 0 ? CASE_SIGMA * params->noise : params->case_noise;
    double value = factor(sigma, noise_split(noise_split(seed, STREAM_CASE), number));

    if (params->outliers > 0 && happens(params->outliers, seed, STREAM_OUTLIER, number))
        value *= params->outlier_factor;
    if (params->states > 0 && is_slow(params, seed, number))
        value *= params->state_factor;
    return value;
}

double noise_of_row(const struct sim_params *params, uint64_t seed,
                    const struct sim_call *call)
{
    seed = noise_split(seed, STREAM_ROW);
    seed = noise_split(seed, (uint64_t)call->kind);
    seed = noise_split(seed, (uint64_t)call->bytes);
    seed = noise_split(seed, (uint64_t)call->root + 1);
    return factor(ROW_SIGMA * params->noise, seed);
}

double noise_of_call(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank)
{
    uint64_t shared = noise_split(noise_split(seed, STREAM_CALL), call);
    uint64_t own = noise_split(noise_split(seed, STREAM_RANK), call);

    own = noise_split(own, (uint64_t)rank);
    return factor(params->noise, shared) * factor(RANK_SIGMA * params->noise, own);
}

double noise_of_host(const struct sim_params *params, uint64_t seed, uint64_t call,
                     int rank)
{
    uint64_t own = noise_split(noise_split(seed, STREAM_HOST), call);

    own = noise_split(own, (uint64_t)rank);
    return HOST_SIGMA * params->noise * params->latency_us * fabs(noise_normal(own));
}
