/* differences.h - in what two sides differ beside their figures */
#ifndef RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H
#define RINGBENCH_SERVER_ANALYSIS_DIFFERENCES_H

#include "server/analysis/compare_cases.h"

/* [{"what","base","head","alike"}], new: of variables, versions, nodes and the spec's
 * fields that shape figures, all in which the sides differ. The value is null where there
 * is none, an array where a side has several. alike: false where likeness.h says that
 * figures which differ in it are hardly comparable. NULL when memory is out. */
json_t *differences_json(const struct compare_side *base,
                         const struct compare_side *head);

#endif
