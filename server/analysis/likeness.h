/* SPDX-License-Identifier: Apache-2.0 */
/* likeness.h - decides if the figures of two runs are comparable
 *
 * Two runs are comparable if their likeness texts are equal. The texts contain the spec
 * fields that the table in spec_field.h marks; docs/reference/baselines.md gives the
 * rule. */
#ifndef RINGBENCH_SERVER_ANALYSIS_LIKENESS_H
#define RINGBENCH_SERVER_ANALYSIS_LIKENESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/bands.h"
#include "server/store/store_trends.h"

#define LIKENESS_FIGURE_SIZE 100

/* The variable that numbers the runs of a series. Comparable runs may differ in this
 * variable. */
#define LIKENESS_NIGHT "SIM_NIGHT"

/* Write the name of a figure, such as "all_reduce float32 bandwidth". Long names of a
 * collective or dtype are truncated. */
void likeness_figure(const char *collective, const char *dtype, bool in_place,
                     enum band band, char text[LIKENESS_FIGURE_SIZE]);

/* The properties of a value that decide if it is comparable with another run's value. */
struct likeness {
    const json_t *run; /* the run's document */
    const json_t *env; /* variables of the cases, from the run's matrix; or NULL */
    const json_t *key; /* fields that the series' rows have in common, see summary.h */
    enum band band;
    const int64_t *sizes; /* bytes; the value is a mean over these sizes */
    size_t n_sizes;
};

/* Return all properties that must be equal for a comparison, as the text of a JSON
 * object. The caller frees the text. */
char *likeness_text(const struct likeness *of, enum run_likeness by);

#endif
