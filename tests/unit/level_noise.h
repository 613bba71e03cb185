/* SPDX-License-Identifier: Apache-2.0 */
/* level_noise.h - levels of a series of runs in which nothing changes */
#ifndef RINGBENCH_LEVEL_NOISE_H
#define RINGBENCH_LEVEL_NOISE_H

#include <stddef.h>

#include "tests/unit/seeded_noise.h"

/* What ten cases with 0.3 % each leave of their scatter in a run's median. */
#define LEVEL_NOISE_WITHIN 0.0012

/* n logarithms around 0. The effect of a run has the deviation between runs, and its
 * correlation with that of the run before it. */
static inline void level_noise(struct noise *noise, double *levels, size_t n,
                               double deviation, double correlation)
{
    double effect = noise_normal(noise), rest = sqrt(1.0 - correlation * correlation);

    for (size_t i = 0; i < n; i++) {
        levels[i] = deviation * effect + LEVEL_NOISE_WITHIN * noise_normal(noise);
        effect = correlation * effect + rest * noise_normal(noise);
    }
}

#endif
