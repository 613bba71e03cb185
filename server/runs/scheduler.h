/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - runs from acceptance to verdict: the queue, the nodes, the cases. All of
 * it runs on the loop's thread; each decision is stored before it is published. */
#ifndef RINGBENCH_SERVER_RUNS_SCHEDULER_H
#define RINGBENCH_SERVER_RUNS_SCHEDULER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/problem.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"
#include "server/rendezvous/rendezvous.h"
#include "server/runs/counters.h"
#include "server/runs/run_log.h"
#include "server/store/store.h"

struct agents;
struct jobs;
struct scheduler;

struct scheduler_config {
    struct store *store;           /* borrowed */
    struct rendezvous *rendezvous; /* borrowed */
    struct jobs *jobs;             /* borrowed, or NULL: no run may have `launch` */
    const char *advertise;         /* rendezvous host told to agents, or NULL: the host by
                                      which each agent reaches the server */
    long lease_s;                  /* an agent is lost after this silence */
    long poll_s;                   /* how long a command poll is held */
    long batch_lost_s;             /* a batch job's lost node has left after this time */
    long max_nodes;                /* limit of registered nodes */
    long join_s;                   /* deadline of a case's rendezvous */
    const struct clock *clock; /* borrowed; NULL: the system's. With another clock, time
                                  advances only in scheduler_tick */
};

struct scheduler *scheduler_create(uv_loop_t *loop,
                                   const struct scheduler_config *config);

/* Resume the runs that the store holds unfinished. Call once, before the loop runs. */
int scheduler_recover(struct scheduler *scheduler, struct error *err);

/* Check every deadline and the queue. With the system's clock the scheduler calls this
 * itself; with another clock the caller does, after advancing it. A step of 2 s or more
 * means that the server did not run meanwhile. */
void scheduler_tick(struct scheduler *scheduler);

/* Answer every parked poll and stop the timers. Runs stay as they are in the store.
 * `closed` runs on the loop. */
void scheduler_close(struct scheduler *scheduler, void (*closed)(void *arg), void *arg);

/* Call this after `closed` and after the store has closed, which may call back until
 * then. NULL is fine. */
void scheduler_free(struct scheduler *scheduler);

/* Borrowed. */
struct agents *scheduler_agents(const struct scheduler *scheduler);

/* ---- Runs ---- */

/* Accept a run (spec is taken). `done` runs on the loop once it is durable, or with err.
 * idempotency_key and body_hash may be NULL. */
typedef void scheduler_accepted(void *arg, const struct error *err, const char *run);
void scheduler_submit(struct scheduler *scheduler, struct run_spec *spec,
                      const char *idempotency_key, const char *body_hash,
                      scheduler_accepted *done, void *arg);

/* The same as scheduler_submit() for a run ID (id_run) that the caller has chosen.
 * `write` (taken) becomes durable with the run, or neither does. */
void scheduler_submit_with(struct scheduler *scheduler, struct run_spec *spec,
                           const char *id, struct store_write *write,
                           scheduler_accepted *done, void *arg);

/* Return the run as GET shows it (docs/reference/api.md), for any thread (run_packed.h).
 * Memory holds all runs that have not ended, and recently ended ones. A new reference;
 * NULL if only the store may have the run. */
json_t *scheduler_run_packed(const struct scheduler *scheduler, const char *run);

/* Return the run in its list form, under the same conditions. */
json_t *scheduler_run_listed(const struct scheduler *scheduler, const char *run);

/* Predict what would happen to such a run now: "Validation" in docs/reference/api.md,
 * except its time (history.h). Changes nothing. A new reference. */
json_t *scheduler_preview(const struct scheduler *scheduler, const struct run_spec *spec);

/* Request the values of a run that did not end in this scheduler. */
void scheduler_note_end(struct scheduler *scheduler, const char *run);

/* Whether a run has not ended yet. */
bool scheduler_run_is_active(const struct scheduler *scheduler, const char *run);

/* The start of the reason for a background run that was cancelled in favor of another. */
#define SCHEDULER_YIELDED "its nodes are needed by run "

/* Request the run's end. Fails with ERROR_NOT_FOUND if the run is not active. */
int scheduler_cancel(struct scheduler *scheduler, const char *run, struct error *err);

/* Change a run's labels and notes in memory. event: the body of the event `edit`
 * (run_edit.h) with its author; stolen on success. Returns false if only the store may
 * have the run. */
bool scheduler_edit(struct scheduler *scheduler, const char *run, json_t *event);

/* ---- Events of a run ---- */

/* Call `event` for every later event of an active run, after the event is durable, in
 * the order of IDs. A NULL event comes last, when the run has ended. Returns NULL if the
 * run is not active. scheduler_unwatch stops it. */
struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg);
/* The id of the run's latest published event; 0 when the run is not active. */
int64_t scheduler_head(const struct scheduler *scheduler, const char *run);

/* ---- Nodes, for the API ---- */

/* Borrowed; changes over time. */
const struct node_registry *scheduler_nodes(const struct scheduler *scheduler);

/* Set the nodes that specs may avoid: an object with one member per node, borrowed; it
 * may change later. */
void scheduler_set_suspects(struct scheduler *scheduler, const json_t *suspects);

/* Check that the run's pattern does not form too many groups on the nodes that it names
 * or would get now. Returns false after adding the reason to *problems. */
bool scheduler_plan_fits(const struct scheduler *scheduler, const struct run_spec *spec,
                         struct problems *problems);

/* Return an array of the nodes after a name ("": from the start), in order: at least
 * one, and about max_bytes at most. *is_more: more nodes follow. */
json_t *scheduler_nodes_page(const struct scheduler *scheduler, const char *behind,
                             bool has_inventory, size_t max_bytes, bool *is_more);
json_t *scheduler_node_json(const struct scheduler *scheduler,
                            const char *name); /* or NULL */

/* Return the input for preflight_of_snapshot: all alive nodes, or with a name that node
 * as well. A new reference; NULL if there is no such node. */
json_t *scheduler_preflight(const struct scheduler *scheduler, const char *name);

void scheduler_counters(const struct scheduler *scheduler,
                        struct scheduler_counters *out);

/* Return the latest answers of checks (last_checks.h); borrowed, changes over time. */
const json_t *scheduler_checks(const struct scheduler *scheduler);

/* Return the latest figures of runs (last_figures.h); borrowed, changes over time. */
const json_t *scheduler_figures(const struct scheduler *scheduler);

/* Call `ready` once the run's values (store_trends.h) exist, if it has ended and has
 * any. The values of all runs that ended between the server's start and this call exist
 * then too. err: this run's values could not be made. */
void scheduler_await_values(struct scheduler *scheduler, const char *run,
                            store_settled *ready, void *arg);

#endif
