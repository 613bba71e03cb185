/* gate.h - whether a run kept what its spec asks for: each check passes, fails, or is not
 * evaluated, which is never a pass. Plain functions of the run's document and of what its
 * results add up to; docs/reference/gates.md is the page of its users. */
#ifndef RINGBENCH_SERVER_ANALYSIS_GATE_H
#define RINGBENCH_SERVER_ANALYSIS_GATE_H

#include <jansson.h>
#include <stdbool.h>

#include "server/summary/summary.h"

/* A run that has ended, or is about to. All is borrowed. */
struct gate_run {
    const json_t *doc;             /* as in docs/reference/api.md, but for: */
    const char *state;             /* of its end */
    const char *reason;            /* or NULL */
    const struct summary *summary; /* by combination, not thinned; NULL: was not read */
    /* Compared with its baseline: as /compare answers it, and the ids of the runs; or
     * NULL, and why not. */
    const json_t *compared;
    json_t *against;
    const char *not_compared;
    /* The same for the cases that measured it again; or NULL, and why it can't be. */
    const json_t *again;
    json_t *lasting; /* {"accepted": run or null, "changes": as of lasting_changes.h}, or
                        NULL */
    const char *not_again;
};

/* Whether a spec (effective, JSON) asks for checks, so that the run's end is judged. */
bool gate_is_asked(const json_t *spec);

/* Whether the run's results are needed to judge it. */
bool gate_needs_results(const json_t *spec, const char *state);

/* The verdict of kind `gate`. A new reference; NULL: the run is slower than usual, and
 * has to be measured again before it fails. */
json_t *gate_judge(const struct gate_run *run);

/* The first of its checks, but for `completed`, that says that the run's speed is not
 * what it should be; borrowed, or NULL. */
json_t *gate_failed(const json_t *verdict);

#endif
