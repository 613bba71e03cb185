/* SPDX-License-Identifier: Apache-2.0 */
/* seeded_noise.h - times as machines give them, from a seed: what statistics are tried on
 */
#ifndef RINGBENCH_TESTS_SEEDED_NOISE_H
#define RINGBENCH_TESTS_SEEDED_NOISE_H

#include <math.h>
#include <stdint.h>

enum noise_shape {
    NOISE_NORMAL,     /* 2 % */
    NOISE_LOG_NORMAL, /* 30 % */
    NOISE_HEAVY,      /* Pareto's tail of index 1.1: hardly a mean, no variance */
    NOISE_TWO_STATES, /* 35 % of the time four times as slow */
    NOISE_COUNT
};

struct noise {
    enum noise_shape shape;
    uint64_t seed;
};

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); between 0 and 1. */
static inline double noise_uniform(struct noise *noise)
{
    uint64_t z = noise->seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static inline double noise_normal(struct noise *noise)
{
    double radius = sqrt(-2 * log(noise_uniform(noise)));

    return radius * cos(6.283185307179586 * noise_uniform(noise));
}

static inline double noise_next(struct noise *noise)
{
    switch (noise->shape) {
    case NOISE_NORMAL:
        return 1 + 0.02 * noise_normal(noise);
    case NOISE_LOG_NORMAL:
        return exp(0.3 * noise_normal(noise));
    case NOISE_HEAVY:
        return 1 + 0.05 * (pow(noise_uniform(noise), -1 / 1.1) - 1);
    case NOISE_TWO_STATES:
    case NOISE_COUNT:
        break;
    }
    /* Within a state evenly spread over 2 %, so that the median is known. */
    double state = noise_uniform(noise) < 0.35 ? 4 : 1;
    return state * (0.99 + 0.02 * noise_uniform(noise));
}

static inline double noise_median(const struct noise *noise)
{
    switch (noise->shape) {
    case NOISE_HEAVY:
        return 1 + 0.05 * (pow(0.5, -1 / 1.1) - 1);
    case NOISE_TWO_STATES:
        return 0.99 + 0.02 * (0.5 / 0.65);
    case NOISE_NORMAL:
    case NOISE_LOG_NORMAL:
    case NOISE_COUNT:
        break;
    }
    return 1;
}

#endif
