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
    STREAM_HOST,
    STREAM_RUN,
    STREAM_NIGHT
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

uint64_t noise_night(const struct sim_params *params, uint64_t seed)
{
    return params->night > 0
               ? noise_split(noise_split(seed, STREAM_NIGHT), (uint64_t)params->night)
               : seed;
}

/* The effects of nights in a row are an autoregressive process of order 1 that is
 * stationary: each has the same variance. */
double noise_of_run(const struct sim_params *params, uint64_t seed)
{
    uint64_t runs = noise_split(seed, STREAM_RUN);
    double phi = params->correlation, effect = noise_normal(noise_split(runs, 0));

    for (uint64_t night = 1; night <= (uint64_t)params->night; night++)
        effect =
            phi * effect + sqrt(1 - phi * phi) * noise_normal(noise_split(runs, night));
    return exp(params->run_noise * effect) * pow(1 + params->drift, params->night);
}

/* The last change that a case with this number has behind it. */
static double change_before(const struct sim_params *params, uint64_t number)
{
    const char *rest = params->changes;
    struct sim_item item;
    double at, value = 1;
    bool is_seconds;

    while (sim_list_next(&rest, &item) > 0)
        if (sim_change_read(&item, &at, &is_seconds) && !is_seconds &&
            (double)number >= at)
            value = item.value;
    return value;
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
    return value * change_before(params, number);
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
