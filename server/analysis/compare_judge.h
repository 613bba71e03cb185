/* SPDX-License-Identifier: Apache-2.0 */
/* compare_judge.h - derives a comparison's answers from the values of cases (internal) */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H

#include "server/analysis/compare.h"

/* Compare one figure. values: one per case, for base, head and the history in this order;
 * logarithms unless is_linear. NaN marks a missing value in the history. *out gets a 95 %
 * interval. */
void compare_judge_change(const struct compare_sides *sides, const double *values,
                          bool is_linear, struct compare_change *out,
                          struct stats_effect *effect);

/* Fill in the members of a band that do not depend on the number of bands. */
void compare_judge_band(const struct compare_sides *sides, const double *values,
                        struct compare_band *band);

/* Compute each band's interval and answer, and the overall answer. */
void compare_judge_all(struct compare *compare);

/* Return the number of runs in lots, where the cases of a run are adjacent. */
size_t compare_count_runs(const struct compare_lot *lots, size_t n);

/* Find stretches of sizes in which one side is certainly faster. If both sides have some,
 * the band is mixed (compare_mixed.c). */
void compare_judge_sizes(struct compare *compare, size_t band);

#endif
