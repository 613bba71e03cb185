/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - estimates a run's duration from the latest similar runs */
#ifndef RINGBENCH_SERVER_RUNS_HISTORY_H
#define RINGBENCH_SERVER_RUNS_HISTORY_H

#include <jansson.h>

#include "common/spec/run_spec.h"

/* Estimate a run's duration from runs with the same work. Runs on the same nodes are
 * preferred. runs: documents, the latest first; incomplete runs are ignored. Returns
 * "time" (docs/reference/api.md, Validation) as a new reference. */
json_t *history_time(const json_t *runs, const struct run_spec *spec, const char *backend,
                     int world_size, const json_t *nodes);

#endif
