/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - the durations of the latest completed runs, as an estimate for a similar
 * run */
#ifndef RINGBENCH_SERVER_RUNS_HISTORY_H
#define RINGBENCH_SERVER_RUNS_HISTORY_H

#include <jansson.h>

#include "common/spec/run_spec.h"

/* Estimate a run's time from runs with the same work, on these nodes (as in a run's
 * document) or else on others. runs: documents, the latest first; incomplete runs are
 * ignored. Returns "time" (docs/reference/api.md, Validation); a new reference. */
json_t *history_time(const json_t *runs, const struct run_spec *spec, const char *backend,
                     int world_size, const json_t *nodes);

#endif
