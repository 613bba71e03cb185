/* SPDX-License-Identifier: Apache-2.0 */
/* compare_json.h - builds the API's document for a comparison */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H

#include "server/analysis/compare_cases.h"

struct compare_question {
    struct compare_side *base, *head; /* the two sides; pairing rearranges their cases */
    const struct compare_side *history; /* other runs like base's, or NULL */
    double margin;
};

/* Pair the cases where possible, and compare. Returns a new document
 * (docs/reference/api.md, "Compare"), or NULL with err as in compare_create(). */
json_t *compare_json(const struct compare_question *question, struct error *err);

/* Return the margin in a run's spec. */
double compare_margin_of(const json_t *run);

#endif
