/* SPDX-License-Identifier: Apache-2.0 */
/* gate_trial.h - a gate tried on runs whose scatter is known: bench/gate_power.c prints
 * how often it is wrong and what it finds, a unit test holds the main figures */
#ifndef RINGBENCH_TESTS_GATE_TRIAL_H
#define RINGBENCH_TESTS_GATE_TRIAL_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "server/analysis/compare.h"
#include "tests/unit/compare_fixture.h"
#include "tests/unit/seeded_noise.h"

#define GATE_TRIAL_RUNS 32

struct gate_trial {
    double between, within; /* deviation of runs, and of a run's level for its cases */
    size_t runs;            /* in the window */
    double step;            /* the new run takes so much longer */
    bool is_shared;         /* measured again, the run keeps what scatters between runs */
};

/* Slower than usual in some band, and in the same band again. */
struct gate_outcome {
    bool once, twice;
};

/* A run of three bands with one case. */
static inline void gate_trial_fill(struct made *run, const double *effects)
{
    struct case_point points[3] = {
        {.size = 8}, {.size = 1 << 20}, {.size = INT64_C(64) << 20}};

    if (run->values.n == 0) {
        made_init(run);
        made_add(
            run, 0,
            "{\"collective\":\"all_reduce\",\"dtype\":\"float32\",\"redop\":\"sum\"}",
            points, 3);
    }
    for (int i = 0; i < 3; i++) {
        run->series[0].points[i].time_us = exp(effects[i]);
        run->series[0].points[i].busbw_gbs = exp(-effects[i]);
    }
}

static inline struct compare *gate_trial_compare(struct made *window, size_t n,
                                                 struct made *now)
{
    struct compare_lot lots[GATE_TRIAL_RUNS], head = {&now->values, 0};
    const struct compare_sides sides = {.base = lots,
                                        .n_base = n,
                                        .head = &head,
                                        .n_head = 1,
                                        .by_run = true,
                                        .margin = COMPARE_SAME};

    for (size_t i = 0; i < n; i++)
        lots[i] = (struct compare_lot){&window[i].values, 0};
    return compare_create(&sides, NULL);
}

static inline struct gate_outcome gate_trial_run(const struct gate_trial *trial,
                                                 struct noise *noise)
{
    static struct made window[GATE_TRIAL_RUNS], now;
    struct compare *first, *again;
    struct gate_outcome out = {false, false};
    double own[3], effects[3];

    for (size_t i = 0; i < trial->runs; i++) {
        for (int k = 0; k < 3; k++)
            effects[k] = trial->between * noise_normal(noise) +
                         trial->within * noise_normal(noise);
        gate_trial_fill(&window[i], effects);
    }
    for (int k = 0; k < 3; k++) {
        own[k] = log1p(trial->step) + trial->between * noise_normal(noise);
        effects[k] = own[k] + trial->within * noise_normal(noise);
    }
    gate_trial_fill(&now, effects);
    first = gate_trial_compare(window, trial->runs, &now);
    for (int k = 0; k < 3; k++) {
        if (!trial->is_shared)
            own[k] = log1p(trial->step) + trial->between * noise_normal(noise);
        effects[k] = own[k] + trial->within * noise_normal(noise);
    }
    gate_trial_fill(&now, effects);
    again = gate_trial_compare(window, trial->runs, &now);
    for (size_t k = 0; first && again && k < first->n_bands; k++) {
        bool is_worse = first->bands[k].answer == VERDICT_WORSE;

        out.once = out.once || is_worse;
        out.twice = out.twice || (is_worse && again->bands[k].answer == VERDICT_WORSE);
    }
    compare_destroy(first);
    compare_destroy(again);
    return out;
}

/* In how many of n trials. */
static inline void gate_trial_count(const struct gate_trial *trial, uint64_t seed, int n,
                                    int *once, int *twice)
{
    struct noise noise = {.seed = seed};

    *once = *twice = 0;
    for (int i = 0; i < n; i++) {
        struct gate_outcome outcome = gate_trial_run(trial, &noise);

        *once += outcome.once;
        *twice += outcome.twice;
    }
}

#endif
