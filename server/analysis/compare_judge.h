/* compare_judge.h - from the values of cases to an answer (inside the comparison) */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JUDGE_H

#include "server/analysis/compare.h"

/* values: one per case, base's first; their logarithms, unless is_linear. effect, where
 * not NULL: what it was made of; of n < 2 on a side its error is NaN. -1 when memory is
 * out, as for the others. */
int compare_judge_change(const struct compare_sides *sides, const double *values,
                         bool is_linear, struct compare_change *out,
                         struct stats_effect *effect);

/* Fill in all of a band but for p_holm, and what follows from it. */
int compare_judge_band(const struct compare_sides *sides, const double *values,
                       struct compare_band *band);

/* Holm, and the answers: of each band and of all. */
int compare_judge_all(struct compare *compare);

#endif
