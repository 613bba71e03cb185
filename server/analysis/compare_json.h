/* compare_json.h - a comparison as the API answers it */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H

#include "server/analysis/compare_cases.h"

struct compare_question {
    struct compare_side *base, *head;   /* get arranged */
    const struct compare_side *history; /* other runs like base's, or NULL */
    double margin;
};

/* Pair what can be paired, compare, and say it: the document of docs/reference/api.md,
 * "Compare", a new object. NULL with err as of compare_create. */
json_t *compare_json(const struct compare_question *question, struct error *err);

/* The margin that a run's spec asks for. */
double compare_margin_of(const json_t *run);

#endif
