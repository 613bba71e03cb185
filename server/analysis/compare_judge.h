/* compare_judge.h - from the values of cases to an answer (inside the comparison) */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H

#include "server/analysis/compare.h"

/* values: one per case, those of base first, then those of head and of the history;
 * logarithms, unless is_linear. In the history NaN is a value that is not there. The
 * interval of *out is of 95 %. */
void compare_judge_change(const struct compare_sides *sides, const double *values,
                          bool is_linear, struct compare_change *out,
                          struct stats_effect *effect);

/* Fill in all of a band but what follows from the number of bands. */
void compare_judge_band(const struct compare_sides *sides, const double *values,
                        struct compare_band *band);

/* The intervals and answers of each band, and the answer of all. */
void compare_judge_all(struct compare *compare);

/* Runs among lots whose cases stand together. */
size_t compare_count_runs(const struct compare_lot *lots, size_t n);

/* Where a band's sizes are surely faster on either side, say so in its stretches and let
 * it be mixed (compare_mixed.c). */
void compare_judge_sizes(struct compare *compare, size_t band);

#endif
