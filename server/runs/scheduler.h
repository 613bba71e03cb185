/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - runs from acceptance to verdict: the queue, the nodes, the cases. All of
 * it lives on the loop's thread; what it decides is written to the store before it is
 * shown to anyone. */
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
    long lease_s;                  /* an agent silent for so long is lost */
    long poll_s;                   /* how long a command poll is held */
    long batch_lost_s;             /* a batch job's node that is lost has left then */
    long max_nodes;                /* known at once */
    long join_s;                   /* deadline of a case's rendezvous */
    const struct clock *clock; /* borrowed; NULL: the system's. With another clock time
                                  passes only by scheduler_tick */
};

struct scheduler *scheduler_create(uv_loop_t *loop,
                                   const struct scheduler_config *config);

/* Take up the runs that the store holds unfinished. Call once, before the loop runs. */
int scheduler_recover(struct scheduler *scheduler, struct error *err);

/* Look at every deadline by the clock, and at the queue. The scheduler does it by itself
 * by the system's clock; whoever gave it another one, after moving that. A step of 2 s or
 * more says that nobody listened meanwhile. */
void scheduler_tick(struct scheduler *scheduler);

/* Answer every parked poll, stop the timers. Runs stay as they are in the store. `closed`
 * runs on the loop. */
void scheduler_close(struct scheduler *scheduler, void (*closed)(void *arg), void *arg);

/* Once closed, and when the store has closed, which calls back until then. NULL is fine.
 */
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

/* The same of a run whose id (id_run) the caller has chosen; `write` (taken) becomes
 * durable with the run, or neither does. */
void scheduler_submit_with(struct scheduler *scheduler, struct run_spec *spec,
                           const char *id, struct store_write *write,
                           scheduler_accepted *done, void *arg);

/* The run as GET shows it (docs/reference/api.md), for any thread (run_packed.h), from
 * memory: every run that has not ended, and for a while those that have. A new reference;
 * NULL when only the store may know it. */
json_t *scheduler_run_packed(const struct scheduler *scheduler, const char *run);

/* The same as lists show it. */
json_t *scheduler_run_listed(const struct scheduler *scheduler, const char *run);

/* What would become of such a run now: "Validation" of docs/reference/api.md, but for its
 * time (history.h). Changes nothing. A new reference. */
json_t *scheduler_preview(const struct scheduler *scheduler, const struct run_spec *spec);

/* A run has ended otherwise than here: have its values made. */
void scheduler_note_end(struct scheduler *scheduler, const char *run);

/* Whether a run has not ended yet. */
bool scheduler_run_is_active(const struct scheduler *scheduler, const char *run);

/* How the reason of a background run begins that was cancelled for another run's sake. */
#define SCHEDULER_YIELDED "its nodes are needed by run "

/* Ask for the run's end. ERROR_NOT_FOUND when it is not active. */
int scheduler_cancel(struct scheduler *scheduler, const char *run, struct error *err);

/* Change the labels and notes of a run in memory. event: stolen if so; the body of the
 * event `edit` (run_edit.h), with who changed them. False: only the store may know it. */
bool scheduler_edit(struct scheduler *scheduler, const char *run, json_t *event);

/* ---- What happens in a run ---- */

/* Call `event` for every event of an active run from now on, after it is durable, in
 * order of ids; a NULL event comes last, when the run has ended. Returns NULL when the
 * run is not active. scheduler_unwatch ends it. */
struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg);
/* The id of the run's latest published event; 0 when the run is not active. */
int64_t scheduler_head(const struct scheduler *scheduler, const char *run);

/* ---- Nodes, for people ---- */

/* Borrowed; changes. */
const struct node_registry *scheduler_nodes(const struct scheduler *scheduler);

/* The nodes that specs may avoid: an object with a member for each, which is borrowed and
 * may change. */
void scheduler_set_suspects(struct scheduler *scheduler, const json_t *suspects);

/* Whether the groups of the run's pattern are not too many, by the nodes that it names or
 * would get now. False after adding why to *problems. */
bool scheduler_plan_fits(const struct scheduler *scheduler, const struct run_spec *spec,
                         struct problems *problems);

/* An array of those behind a name (""; in their order), some at least, no more than about
 * max_bytes; *is_more: there are others. */
json_t *scheduler_nodes_page(const struct scheduler *scheduler, const char *behind,
                             bool has_inventory, size_t max_bytes, bool *is_more);
json_t *scheduler_node_json(const struct scheduler *scheduler,
                            const char *name); /* or NULL */

/* What preflight_of_snapshot takes: all nodes that are alive, and the one with this name
 * (or NULL). A new reference; NULL: there is no such node. */
json_t *scheduler_preflight(const struct scheduler *scheduler, const char *name);

void scheduler_counters(const struct scheduler *scheduler,
                        struct scheduler_counters *out);

/* What the checks of the latest runs came to (last_checks.h); borrowed, changes. */
const json_t *scheduler_checks(const struct scheduler *scheduler);

/* What the latest runs came to (last_figures.h); borrowed, changes. */
const json_t *scheduler_figures(const struct scheduler *scheduler);

/* Call `ready` when the run's values (store_trends.h) are there, if it has ended and has
 * any, and so are those of all runs that ended before this call since the start. err:
 * this run's values could not be made. */
void scheduler_await_values(struct scheduler *scheduler, const char *run,
                            store_settled *ready, void *arg);

#endif
