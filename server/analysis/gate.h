/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - judges a run by the checks in its spec
 *
 * Each check passes, fails, or is not evaluated. A check that is not evaluated never
 * counts as a pass. The functions do no I/O; docs/reference/gates.md is the user's page.
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_GATE_H
#define RINGBENCH_SERVER_ANALYSIS_GATE_H

#include <jansson.h>
#include <stdbool.h>

#include "server/summary/summary.h"

/* A run that has ended or is about to end. All members are borrowed. */
struct gate_run {
    /* The run's document (docs/reference/api.md); the members below take precedence */
    const json_t *doc;
    const char *state;  /* final state */
    const char *reason; /* reason for the state, or NULL */
    /* Results by combination, without thinning; NULL if they were not read */
    const struct summary *summary;
    /* The comparison with the baseline, as /compare returns it, and the ids of the
     * baseline's runs. If NULL, not_compared gives the reason. */
    const json_t *compared;
    json_t *against;
    const char *not_compared;
    /* The comparison for the repeated cases. If NULL, not_again gives the reason. */
    const json_t *again;
    json_t *lasting; /* {"accepted": run or null, "changes": see lasting_changes.h}, or
                        NULL */
    const char *not_again;
};

/* Return true if an effective spec contains checks, so the run is judged at its end. */
bool gate_is_asked(const json_t *spec);

/* Return the `gate` verdict as a new reference. NULL means that the run is slower than
 * usual. Such a run must be measured again before it can fail. */
json_t *gate_judge(const struct gate_run *run);

/* Return the first failed check about the run's speed, borrowed, or NULL. */
json_t *gate_failed(const json_t *verdict);

#endif
