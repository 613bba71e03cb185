/* baseline_find.h - what a run is to be held against */
#ifndef RINGBENCH_SERVER_API_BASELINE_FIND_H
#define RINGBENCH_SERVER_API_BASELINE_FIND_H

#include "server/api/api.h"
#include "server/store/store_trends.h"

/* Find the baseline of a run that has ended, or the last runs like it: `found` runs once,
 * when the run's own values have been made. base: {"baseline": as docs/api.md has it, or
 * null, "runs":[ids]}, a new reference, `runs` empty when nothing is like it; NULL with
 * err. query->run is copied. */
void baseline_find(struct api *api, const struct store_base_query *query,
                   store_read_done *found, void *arg);

#endif
