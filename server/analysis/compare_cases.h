/* SPDX-License-Identifier: Apache-2.0 */
/* compare_cases.h - selects the cases to compare and pairs them */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H

#include <jansson.h>

#include "common/base/error.h"
#include "server/analysis/compare.h"

struct compare_run {
    json_t *doc;                /* as returned by GET */
    struct case_values *values; /* includes at least its completed cases */
};

/* A side's request: a run, or one case of it. */
struct compare_ask {
    const struct compare_run *run;
    int case_no; /* -1: all */
};

/* A side's cases: those that completed and have the requested variables. */
struct compare_side {
    const char *name; /* "base" or "head" */
    struct compare_choice {
        const struct compare_run *run;
        const json_t *doc; /* of the case */
        int case_no;
        json_t
            *env; /* the run's and the case's variables; null where the case unsets one */
    } * cases;
    size_t n, capacity;
    size_t unfinished; /* requested cases that did not complete */
    size_t unpaired;   /* cases without a partner on the other side */
};

/* Select the cases of n requests. env: the required value of each variable, or null for
 * "unset". All arguments are borrowed; the caller must release *side, also on error.
 * Returns -1 with err if a case does not exist, or no case has these variables. */
int compare_side_choose(struct compare_side *side, const struct compare_ask *asks,
                        size_t n, const json_t *env, struct error *err);

/* Add the cases of one request to the side, whatever nodes they ran on. */
int compare_side_take(struct compare_side *side, const struct compare_ask *ask,
                      const json_t *env, struct error *err);

/* Keep only base's cases whose variables match a case of head. A baseline run may have
 * several combinations, of which only some are relevant. */
void compare_side_keep_alike(struct compare_side *base, const struct compare_side *head);
/* Keep only the cases that confirm suspects, or only the others. */
void compare_side_keep_confirming(struct compare_side *side, bool confirms);
void compare_side_release(struct compare_side *side);

/* Return the number of nodes or ranks of a case. */
size_t compare_choice_nodes(const struct compare_choice *choice);
size_t compare_choice_ranks(const struct compare_choice *choice);

/* Return -1 with err if a case is on both sides. */
int compare_sides_check(const struct compare_side *base, const struct compare_side *head,
                        struct error *err);

/* Pair the cases by repeat, if both sides are from one run with interleaved order. Cases
 * without a partner are dropped. Returns true if there are pairs. */
bool compare_sides_pair(struct compare_side *base, struct compare_side *head);

/* Return a side's lots; the caller frees them. */
struct compare_lot *compare_side_lots(const struct compare_side *side);

#endif
