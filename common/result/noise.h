/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - decides whether a run's rows reach the precision that its spec requires
 * (docs/explanation/method.md, "Noisy runs") */
#ifndef RINGBENCH_COMMON_RESULT_NOISE_H
#define RINGBENCH_COMMON_RESULT_NOISE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define NOISE_SENTENCE_MAX 96

/* The confidence interval of a row's time: its extent below and above the time, as
 * fractions of the time. */
struct certainty {
    bool is_judged; /* false if a fixed number of calls was timed, which gives no interval
                     */
    double below, above; /* above is HUGE_VAL if unknown */
};

/* All zero: no rows yet. */
struct noise {
    uint64_t rows;      /* number of rows with an interval */
    uint64_t uncertain; /* number of rows whose interval is too wide */
};

/* Add a row. limit: maximum of half the interval's width, as a fraction of the row's
 * time. */
void noise_add(struct noise *noise, const struct certainty *row, double limit);

/* Return true if a run reports its noise beside its headline: if at least a tenth of its
 * rows are uncertain, or if the headline and at least one row are uncertain. half: half
 * the width of the headline's interval, as a fraction. */
bool noise_is_said(const struct noise *noise, double half, double limit);

/* Return {"limit","rows","uncertain","sentence"}, or null if no row was judged.
 * "sentence" is present only if noise_is_said() returns true. The result is a new
 * reference. */
json_t *noise_json(const struct noise *noise, double half, double limit);

/* Format "12 of 54 rows are less certain than 10 %" and return `text`. */
const char *noise_sentence(const struct noise *noise, double limit,
                           char text[NOISE_SENTENCE_MAX]);

/* Return true if an interval is meaningful: its ends differ by at most a factor of
 * ten. */
bool noise_is_known(double low, double high);

#endif
