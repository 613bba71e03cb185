/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - how long the latest completed runs took, for who is to run the same again
 */
#ifndef RINGBENCH_SERVER_RUNS_HISTORY_H
#define RINGBENCH_SERVER_RUNS_HISTORY_H

#include <jansson.h>

#include "common/spec/run_spec.h"

/* How long runs with the same work took, on these nodes (as in a run's document) or else
 * on others. runs: documents, the latest first; those that did not complete tell nothing.
 * Returns "time" of docs/reference/api.md, Validation; a new reference. */
json_t *history_time(const json_t *runs, const struct run_spec *spec, const char *backend,
                     int world_size, const json_t *nodes);

#endif
