/* likeness.h - when the figures of two runs are comparable: their texts are equal. Which
 * fields of a spec count is a bit in their table (spec_field.h);
 * docs/reference/baselines.md has the rule. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LIKENESS_H
#define RINGBENCH_SERVER_ANALYSIS_LIKENESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/bands.h"
#include "server/store/store_trends.h"

#define LIKENESS_FIGURE_SIZE 100

/* The variable that says which run of a series it is: alike runs differ in it. */
#define LIKENESS_NIGHT "SIM_NIGHT"

/* Under which figure values are found: "all_reduce float32 bandwidth". collective and
 * dtype are names of ours; longer ones are cut. */
void likeness_figure(const char *collective, const char *dtype, bool in_place,
                     enum band band, char text[LIKENESS_FIGURE_SIZE]);

/* What a value is of. */
struct likeness {
    const json_t *run; /* the run's document */
    const json_t *env; /* of the cases, from the run's matrix; NULL: there is none */
    const json_t *key; /* what the series' rows have in common, see summary.h */
    enum band band;
    const int64_t *sizes; /* bytes: over which the value is a mean */
    size_t n_sizes;
};

/* All that must be the same, as the text of a JSON object; two values are alike when
 * their texts are equal. The caller frees it. */
char *likeness_text(const struct likeness *of, enum run_likeness by);

#endif
