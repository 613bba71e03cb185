/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - one time that a watch measures its nodes, and what its row keeps of it. Pure:
 * functions of the row's document and of times and runs that the caller gives.
 *
 * The document of a watch, as the store has it. Most of it is shown as it is
 * (docs/reference/api.md):
 * {"id","created","by","request","next": null while it is paused,
 *  "sweep": null or {"due","begun","skipped","batches":[{"nodes","state":
 *     "waiting|measuring|over","runs","answer","sentence","named"; "spec","group","why":
 *     of the run that follows one that was slower twice}]},
 *  "sweeps": the latest that ended, newest first, see sweep_close,
 *  "counts":
 * {"sweeps","runs","alarms","unconfirmed_alarms","fails","named","unexplained",
 *             "passed_suspects","yielded","missed"},
 *  "lasting": see chain.h, "stale": names that were told to be, "actions": see actions.h,
 *  "nodes": {NAME: {"measured","run","answer"; "figure","level","low","high",
 *                   "level_run","level_measured": of the latest run with a level}}} */
#ifndef RINGBENCH_SERVER_WATCHES_SWEEP_H
#define RINGBENCH_SERVER_WATCHES_SWEEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/watches/chain.h"

#define SWEEPS_KEPT 30
#define SWEEP_ALL SIZE_MAX

/* The document of a new watch. request: taken. */
json_t *sweep_document(const char *id, json_t *request, const char *by, int64_t now_ms,
                       int64_t next_ms);

/* Divide names (in their order) evenly into groups of at most `most`; 0: one group. A new
 * array of arrays. */
json_t *sweep_divide(const json_t *names, size_t most);

/* Begin a sweep over groups of nodes (taken) that was due at due_ms, after so many that
 * were skipped because no server ran. */
void sweep_begin(json_t *watch, json_t *groups, int64_t due_ms, size_t skipped,
                 int64_t now_ms);

/* The first batch that waits and whose nodes are all ready (NULL: they are), one before
 * others that has a run to follow; SWEEP_ALL: none. */
typedef bool sweep_is_ready(void *arg, const char *node);
size_t sweep_find_ready(const json_t *watch, sweep_is_ready *is_ready, void *arg);

/* Divide each batch that waits for some of its nodes only: those that are ready can be
 * measured without the others. */
void sweep_split(json_t *watch, sweep_is_ready *is_ready, void *arg);

json_t *sweep_batch(const json_t *watch, size_t i); /* borrowed */

/* The run under way, or NULL, and of which batch. */
const char *sweep_run(const json_t *watch, size_t *batch);

/* The batch is measured by this run; or, NULL, by none, since that could not be posted.
 */
void sweep_take_run(json_t *watch, size_t batch, const char *run);

/* The run under way has ended; run: its document; step: what chain_judge says of it,
 * whose `follow_up` is taken. Then a node counts as measured, and the batch is over
 * unless a run follows. Whether it is over, and something was slow or failed. */
bool sweep_take_end(json_t *watch, const json_t *run, struct chain_step *step,
                    int64_t now_ms);

/* Add to one of its counts. */
void sweep_count(json_t *watch, const char *name, size_t n);

/* The batch cannot be measured: its run is refused, or was deleted. */
void sweep_give_up(json_t *watch, size_t batch, const char *why);

bool sweep_is_over(const json_t *watch);

/* The sweep has ended, also with batches that wait yet: these are missed. Returns what is
 * kept of it, which is the first of `sweeps` then; borrowed:
 * {"due","begun","ended","verdict"}; the verdict is of kind `watch`. */
const json_t *sweep_close(json_t *watch, int64_t now_ms);

/* Those of the names that were not measured since a time. One that never was counts from
 * the time `from`, or NULL: as not measured. Times are texts of clock.h, which sort. A
 * new array. */
json_t *sweep_stale(const json_t *watch, const json_t *names, const char *since,
                    const char *from);

#endif
