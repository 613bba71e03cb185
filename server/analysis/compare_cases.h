/* compare_cases.h - which cases of which runs are compared, and which of them are pairs
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_CASES_H

#include <jansson.h>

#include "common/base/error.h"
#include "server/analysis/compare.h"

struct compare_run {
    json_t *doc;                /* as GET shows it */
    struct case_values *values; /* of its completed cases at least */
};

/* What a side asks for: runs, or cases of them. */
struct compare_ask {
    const struct compare_run *run;
    int case_no; /* -1: all */
};

/* Its cases: those that completed and have the variables asked for. */
struct compare_side {
    const char *name; /* "base", "head" */
    struct compare_choice {
        const struct compare_run *run;
        const json_t *doc; /* of the case */
        int case_no;
        json_t *env; /* its variables, those of the run too: null where it unsets one */
    } * cases;
    size_t n, capacity;
    size_t unfinished; /* cases that were asked for and did not complete */
    size_t unpaired;   /* that have no partner on the other side */
};

/* env: an object, a value or null (not set) by name; a case must have all of it. All is
 * borrowed; *side is released in any case. -1 with err when a case is not there, or none
 * has these variables. */
int compare_side_choose(struct compare_side *side, const struct compare_ask *asks,
                        size_t n, const json_t *env, struct error *err);

/* The same of one ask, whatever nodes its cases are on: more cases of the side. */
int compare_side_take(struct compare_side *side, const struct compare_ask *ask,
                      const json_t *env, struct error *err);

/* Keep those cases of base that have the variables of some case of head: a run of several
 * combinations may be a baseline for the sake of one of them. */
void compare_side_keep_alike(struct compare_side *base, const struct compare_side *head);
/* Keep the cases that measured a run again, or the others. */
void compare_side_keep_confirming(struct compare_side *side, bool confirms);
void compare_side_release(struct compare_side *side);

/* How many nodes and ranks a case had. */
size_t compare_choice_nodes(const struct compare_choice *choice);
size_t compare_choice_ranks(const struct compare_choice *choice);

/* -1 with err when a case is on both sides. */
int compare_sides_check(const struct compare_side *base, const struct compare_side *head,
                        struct error *err);

/* Where both sides are of one run that took its combinations in turn, bring the cases of
 * a repeat together, leaving out those that have no partner, and return true. */
bool compare_sides_pair(struct compare_side *base, struct compare_side *head);

/* The lots of a side, to be freed. */
struct compare_lot *compare_side_lots(const struct compare_side *side);

#endif
