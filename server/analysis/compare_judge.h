/* SPDX-License-Identifier: Apache-2.0 */
/* compare_judge.h - derives a comparison's answers from the values of cases (internal) */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H

#include "server/analysis/compare.h"

/* Compare one figure. values: one for each case of base, head and history, in this order.
 * They are logarithms unless is_linear is set. NaN marks a missing value in the history.
 * *out gets a 95 % interval. */
void compare_judge_change(const struct compare_sides *sides, const double *values,
                          bool is_linear, struct compare_change *out,
                          struct stats_effect *effect);

/* Set the members of a band that do not depend on the number of bands. */
void compare_judge_band(const struct compare_sides *sides, const double *values,
                        struct compare_band *band);

/* Compute each band's interval and answer, and the overall answer. */
void compare_judge_all(struct compare *compare);

/* Return the number of runs in `lots`. The cases of a run must be adjacent. */
size_t compare_count_runs(const struct compare_lot *lots, size_t n);

/* Find stretches of sizes in which one side is certainly faster. The band is mixed if
 * each side is faster in some stretch (compare_mixed.c). */
void compare_judge_sizes(struct compare *compare, size_t band);

#endif
