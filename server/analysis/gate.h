/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - judges a run by the checks in its spec
 *
 * Each check passes, fails, or is not evaluated, which never counts as a pass. Pure
 * functions of the run's document and its results; docs/how-to/gates.md is the user's
 * page. */
#ifndef RINGBENCH_SERVER_ANALYSIS_GATE_H
#define RINGBENCH_SERVER_ANALYSIS_GATE_H

#include <jansson.h>
#include <stdbool.h>

#include "server/summary/summary.h"

/* A run that has ended or is about to end. All members are borrowed. */
struct gate_run {
    const json_t *doc;             /* as in docs/reference/api.md, except for: */
    const char *state;             /* final state */
    const char *reason;            /* or NULL */
    const struct summary *summary; /* by combination, not thinned; NULL: not read */
    /* The comparison with the baseline, as /compare returns it, and the ids of the
     * baseline's runs. If NULL, not_compared has the reason. */
    const json_t *compared;
    json_t *against;
    const char *not_compared;
    /* The same for the cases that measured again. If NULL, not_again has the reason. */
    const json_t *again;
    json_t *lasting; /* {"accepted": run or null, "changes": see lasting_changes.h}, or
                        NULL */
    const char *not_again;
};

/* Return true if a spec (effective, JSON) has checks, so that the run's end is judged. */
bool gate_is_asked(const json_t *spec);

/* Return true if the run's results are needed to judge it. */
bool gate_needs_results(const json_t *spec, const char *state);

/* Return the `gate` verdict as a new reference. NULL means that the run is slower than
 * usual and must be measured again before it can fail. */
json_t *gate_judge(const struct gate_run *run);

/* Return the first failed check about the run's speed, borrowed, or NULL. */
json_t *gate_failed(const json_t *verdict);

#endif
