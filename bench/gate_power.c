/* SPDX-License-Identifier: Apache-2.0 */
/* gate_power.c - measures false alarms and power of gates: how many gates against the
 * last K runs fail without a change, and with a slower run
 *
 * usage: gate_power TRIALS [SEED] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/gate_trial.h"

/* Standard deviation of the median of five cases that each deviate by 0.5 %. */
#define WITHIN 0.0027

int main(int argc, char **argv)
{
    static const double between[] = {0, 0.005, 0.01, 0.02};
    static const size_t runs[] = {5, 10, 20};
    static const double steps[] = {0.02, 0.03, 0.05, 0.10};
    int n = argc > 1 ? atoi(argv[1]) : 0, once, twice;
    uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;

    if (n < 100) {
        fprintf(stderr, "usage: gate_power TRIALS [SEED], at least 100\n");
        return 2;
    }
    printf("| between runs | K | false: once | false: twice | twice, same state |");
    for (size_t k = 0; k < 4; k++)
        printf(" %.0f %% slower |", 100 * steps[k]);
    printf("\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            struct gate_trial trial = {between[i], WITHIN, runs[j], 0, false};

            gate_trial_count(&trial, seed++, n, &once, &twice);
            printf("| %.1f %% | %zu | %.2f %% | %.2f %% |", 100 * between[i], runs[j],
                   100.0 * once / n, 100.0 * twice / n);
            trial.is_shared = true;
            gate_trial_count(&trial, seed++, n, &once, &twice);
            printf(" %.2f %% |", 100.0 * twice / n);
            for (size_t k = 0; k < 4; k++) {
                trial = (struct gate_trial){between[i], WITHIN, runs[j], steps[k], true};
                gate_trial_count(&trial, seed++, n, &once, &twice);
                printf(" %.0f %% |", 100.0 * twice / n);
            }
            printf("\n");
            fflush(stdout);
        }
    }
    return 0;
}
