/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - manages a sweep: one round of measurements of a watch over its nodes. Works
 * only on the watch's document and on times and runs that the caller passes.
 *
 * A group of nodes is measured together, and its run is compared with earlier runs. The
 * run's gate measures a slower run again (analysis/gate.h). If the repeated run is slower
 * too, the follow-up measures pairs of the nodes. The verdict of the pairs names a node,
 * a link or a rack, or none. A watch with the pattern pairs starts with the pairs.
 *
 * The stored document of a watch is as follows; docs/reference/api.md describes the
 * members that the API shows.
 * {"id","created","by","request","next": null while paused,
 *  "sweep": null or {"due","begun","skipped","batches":[{"nodes","state":
 *     "waiting|measuring|over","runs","answer","sentence","named"; after a slow run
 *     "group", and "spec" until the follow-up has ended}]},
 *  "sweeps": the latest that ended, newest first, see sweep_close,
 *  "counts": {"sweeps","runs","alarms","unconfirmed_alarms","fails","named",
 *             "unexplained","passed_suspects","yielded","missed"},
 *  "lasting": the first run of the last slowdown that got a follow-up,
 *  "actions": see actions.h, "stale": names, at the end of the last sweep,
 *  "nodes": {NAME: {"measured","run","answer"; of the latest run with a level "figure",
 *                   "level","low","high","level_run","level_measured"}}} */
#ifndef RINGBENCH_SERVER_WATCHES_SWEEP_H
#define RINGBENCH_SERVER_WATCHES_SWEEP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/finding/verdict.h"

#define SWEEPS_KEPT 30

/* Return the document of a new watch. request: taken. */
json_t *sweep_document(const char *id, json_t *request, const char *by, int64_t now_ms);

/* Begin a sweep. The names, in their order, are divided evenly into batches of at most
 * `at_once` nodes (0: one batch). only: keep only the batch with this node; NULL: keep
 * all batches. skipped: number of due times after due_ms that passed without a sweep. */
void sweep_begin(json_t *watch, const json_t *names, size_t at_once, const char *only,
                 int64_t due_ms, size_t skipped, int64_t now_ms);

/* Return the next batch to measure, borrowed, or NULL. All nodes of the batch are ready
 * (is_ready NULL: always). Batches with a follow-up come first. may_split: a batch with
 * only some ready nodes is split into ready nodes and others. */
typedef bool sweep_is_ready(void *arg, const char *node);
json_t *sweep_next(json_t *watch, sweep_is_ready *is_ready, void *arg, bool may_split);

/* Return the batch that is being measured, borrowed, or NULL. */
json_t *sweep_measuring(const json_t *watch);

/* Return the batch's latest run, borrowed, or NULL. */
const char *sweep_run(const json_t *batch);

/* Return the spec of the batch's next run, a new object. is_pairs: skip the run over all
 * nodes and measure pairs, if the watch's runs can have a follow-up. */
json_t *sweep_spec(const json_t *watch, const json_t *batch, bool is_pairs);

/* Record that the run measures the batch. run NULL: the run could not be stored. */
void sweep_take_run(json_t *batch, const char *run);

/* The result of a run. */
struct sweep_result {
    enum verdict_answer answer; /* PASS, FAIL, NOT_EVALUATED, NONE, SLOW_NODE, ... */
    const char *sentence;       /* the answer's reason; borrowed from the run */
    json_t *nodes;              /* names of the run's nodes; borrowed */
    json_t *named; /* nodes that the pairs' verdict names; borrowed, or NULL */
    /* the run judged single nodes, so a node that it did not name has passed */
    bool has_judged;
};

/* Read the document of the ended run. This ends the batch unless the run yielded or gets
 * a follow-up. Returns true if the batch has ended and was slow or failed. */
bool sweep_take_end(json_t *watch, const json_t *run, int64_t now_ms,
                    struct sweep_result *result);

/* Add n to a member of "counts". */
void sweep_count(json_t *watch, const char *name, size_t n);

/* End a batch that cannot be measured, because its run was refused or deleted. */
void sweep_give_up(json_t *batch, const char *why);

bool sweep_is_over(const json_t *watch);

/* End the sweep; waiting batches count as missed. Returns the sweep's entry in `sweeps`,
 * borrowed: {"due","begun","ended","verdict"}. */
const json_t *sweep_close(json_t *watch, int64_t now_ms);

/* Record which nodes are stale, because they were not measured for two periods. Returns
 * the names of nodes that became stale since the last call, a new array. */
json_t *sweep_take_stale(json_t *watch, const json_t *names, int64_t period_ms,
                         int64_t now_ms);

/* Return the watch as docs/reference/api.md describes it, a new object. names: its nodes
 * now (taken). has_nodes: false omits data of single nodes, as in lists. */
json_t *sweep_show(json_t *watch, json_t *names, int64_t period_ms, int64_t now_ms,
                   bool has_nodes);

#endif
