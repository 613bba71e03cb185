/* compare_json.h - a comparison as the API answers it */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_JSON_H

#include "server/analysis/compare_cases.h"

/* Pair what can be paired, compare, and say it: the document of docs/api.md, "Compare", a
 * new object. The sides get arranged. NULL with err as of compare_create. */
json_t *compare_json(struct compare_side *base, struct compare_side *head,
                     struct error *err);

#endif
