/* SPDX-License-Identifier: Apache-2.0 */
/* compare_cases.h - selects the cases to compare and pairs them */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H

#include <jansson.h>

#include "common/base/error.h"
#include "server/analysis/compare.h"

struct compare_run {
    json_t *doc;                /* the run's document, as GET returns it */
    struct case_values *values; /* the values of at least the run's completed cases */
};

/* A request for one side: all cases of a run, or one of its cases. */
struct compare_ask {
    const struct compare_run *run;
    int case_no; /* -1: all */
};

/* A side's cases: those that completed and match the requested variables. */
struct compare_side {
    const char *name; /* "base" or "head" */
    struct compare_choice {
        const struct compare_run *run;
        const json_t *doc; /* the case's document */
        int case_no;
        /* the run's and the case's variables; null where the case unsets one */
        json_t *env;
    } * cases;
    size_t n, capacity;
    size_t unfinished; /* requested cases that did not complete */
    size_t unpaired;   /* cases without a partner on the other side */
};

/* Select the cases of n requests. env: the required value of each variable, or null if
 * the variable must be unset. All arguments are borrowed; the caller must release *side,
 * also on error. Returns -1 with err if a case does not exist, or if no case matches the
 * variables. */
int compare_side_choose(struct compare_side *side, const struct compare_ask *asks,
                        size_t n, const json_t *env, struct error *err);

/* Add the cases of one request to the side, regardless of their nodes. */
int compare_side_take(struct compare_side *side, const struct compare_ask *ask,
                      const json_t *env, struct error *err);

/* Keep only base's cases whose variables match a case of head. A baseline run may contain
 * other combinations. */
void compare_side_keep_alike(struct compare_side *base, const struct compare_side *head);
/* Keep only the cases that confirm suspects, or only those that do not. */
void compare_side_keep_confirming(struct compare_side *side, bool confirms);
void compare_side_release(struct compare_side *side);

size_t compare_choice_nodes(const struct compare_choice *choice);
size_t compare_choice_ranks(const struct compare_choice *choice);

/* Return -1 with err if a case is on both sides. */
int compare_sides_check(const struct compare_side *base, const struct compare_side *head,
                        struct error *err);

/* Pair the cases by repeat if both sides belong to one run with interleaved order. Drop
 * cases without a partner. Returns true if the cases are paired. */
bool compare_sides_pair(struct compare_side *base, struct compare_side *head);

/* Return a side's cases as an array of compare_lot, which the caller frees. */
struct compare_lot *compare_side_lots(const struct compare_side *side);

#endif
