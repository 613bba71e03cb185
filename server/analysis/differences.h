/* differences.h - in what two sides differ beside their figures */
#ifndef RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H
#define RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H

#include "server/analysis/compare_cases.h"

/* [{"what","base","head","alike"}], new: of variables, versions, nodes and the spec's
 * fields that shape figures, all in which the sides differ. The value is null where there
 * is none, an array where a side has several. alike: whether figures that differ in it
 * are comparable: not for spec fields with SPEC_SHAPES (spec_field.h), nor for the
 * backend, nodes, ranks and hardware. */
json_t *differences_json(const struct compare_side *base,
                         const struct compare_side *head);

#endif
