/* SPDX-License-Identifier: Apache-2.0 */
/* differences.h - lists facts other than figures in which two sides differ */
#ifndef RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H
#define RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H

#include "server/analysis/compare_cases.h"

/* Return a new array [{"what","base","head","alike"}] of the facts in which the sides
 * differ: variables, versions, nodes, and spec fields that affect figures. A value is
 * null if absent, and an array if the side has several values. alike: true if the figures
 * remain comparable. Figures are not comparable if the sides differ in spec fields with
 * SPEC_SHAPES (spec_field.h), the backend, nodes, ranks or hardware. */
json_t *differences_json(const struct compare_side *base,
                         const struct compare_side *head);

#endif
