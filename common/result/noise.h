/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - whether a run's rows reach the precision that its spec requires
 * (docs/explanation/method.md, "Noisy runs") */
#ifndef RINGBENCH_COMMON_RESULT_NOISE_H
#define RINGBENCH_COMMON_RESULT_NOISE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define NOISE_SENTENCE_MAX 96

/* The interval of a row's time: its extent to either side, as a fraction of the time. */
struct certainty {
    bool is_judged; /* false: a fixed number of calls was timed, which has no interval */
    double below, above; /* above is HUGE_VAL if unknown */
};

/* All zero: no rows yet. */
struct noise {
    uint64_t rows;      /* with an interval */
    uint64_t uncertain; /* those whose interval is too wide */
};

/* Add a row. limit: for half the interval, as a fraction of the time. */
void noise_add(struct noise *noise, const struct certainty *row, double limit);

/* Return whether a run reports its noise beside its headline: a tenth of its rows is
 * uncertain, or any row and the headline are. half: half the headline's interval, as a
 * fraction. */
bool noise_is_said(const struct noise *noise, double half, double limit);

/* Return {"limit","rows","uncertain","sentence"}, the sentence only if noise_is_said(),
 * or null if no row was judged. A new reference. */
json_t *noise_json(const struct noise *noise, double half, double limit);

/* Format "12 of 54 rows are less certain than 10 %"; return text. */
const char *noise_sentence(const struct noise *noise, double limit,
                           char text[NOISE_SENTENCE_MAX]);

/* Return whether an interval is meaningful: its ends are within a factor of ten. */
bool noise_is_known(double low, double high);

#endif
