/* history.h - how long the latest completed runs took, for who is to run the same again
 */
#ifndef RINGBENCH_SERVER_RUNS_HISTORY_H
#define RINGBENCH_SERVER_RUNS_HISTORY_H

#include <jansson.h>

#include "common/spec/run_spec.h"

#define HISTORY_RUNS 32

struct history;

struct history *history_create(void);
void history_destroy(struct history *history);

/* Take in a completed run's document (docs/api.md); others are left alone. */
void history_add(struct history *history, const json_t *run);

/* How long runs with the same work took, on these nodes (as in a run's document) or else
 * on others. Returns "time" of docs/api.md, Validation; a new reference. */
json_t *history_time(const struct history *history, const struct run_spec *spec,
                     const char *backend, int world_size, const json_t *nodes);

#endif
