/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - whether the rows of a run are as certain as its spec asks for
 * (docs/explanation/method.md, "Noisy runs") */
#ifndef RINGBENCH_COMMON_RESULT_NOISE_H
#define RINGBENCH_COMMON_RESULT_NOISE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define NOISE_SENTENCE_MAX 96

/* The interval of a row's time: how far it goes to either side, in parts of the time. */
struct certainty {
    bool is_judged;      /* false: a number of calls was timed, which has no interval */
    double below, above; /* above is HUGE_VAL where nothing is known */
};

/* All zero: no rows yet. */
struct noise {
    uint64_t rows, uncertain; /* of those that are judged */
};

/* limit: of half the interval, as a part of the time. */
void noise_add(struct noise *noise, const struct certainty *row, double limit);

/* Whether a run says so beside its headline: a tenth of its rows is uncertain, or some
 * row and the headline. half: of the headline's interval, as a part of it. */
bool noise_is_said(const struct noise *noise, double half, double limit);

/* {"limit","rows","uncertain","sentence"}, the last one if it is said; null if no row was
 * judged. A new reference. */
json_t *noise_json(const struct noise *noise, double half, double limit);

/* "12 of 54 rows are less certain than 10 %"; returns text. */
const char *noise_sentence(const struct noise *noise, double limit,
                           char text[NOISE_SENTENCE_MAX]);

/* Whether an interval says anything: it is within a factor of ten. */
bool noise_is_known(double low, double high);

#endif
