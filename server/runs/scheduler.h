/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - takes runs from acceptance to verdict: the queue, the nodes, the
 * cases. All functions run on the loop's thread. Each decision is stored before it is
 * published. */
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
    struct jobs *jobs;             /* borrowed; NULL: no run may use `launch` */
    const char *advertise; /* the rendezvous host sent to agents; NULL: the host by which
                              each agent reaches the server */
    long lease_s;          /* an agent is lost after this time without a request */
    long poll_s;           /* time for which a command poll is held */
    long batch_lost_s;     /* after this time, a batch job's lost node counts as left */
    long max_nodes;        /* limit of registered nodes */
    long join_s;           /* deadline of a case's rendezvous */
    const struct clock *clock; /* borrowed; NULL: the system's clock. With any other
                                  clock, time advances only in scheduler_tick */
};

struct scheduler *scheduler_create(uv_loop_t *loop,
                                   const struct scheduler_config *config);

/* Resume the unfinished runs in the store. Call this once, before the loop runs. */
int scheduler_recover(struct scheduler *scheduler, struct error *err);

/* Check every deadline and the queue. With the system's clock, the scheduler calls this
 * function itself. With any other clock, the caller must call it after advancing the
 * clock. If the clock advances by 2 s or more at once, the server counts as stopped
 * during this time. */
void scheduler_tick(struct scheduler *scheduler);

/* Answer every open poll and stop the timers. Runs stay unchanged in the store. `closed`
 * runs on the loop. */
void scheduler_close(struct scheduler *scheduler, void (*closed)(void *arg), void *arg);

/* Free the scheduler. Call this after `closed`, and after the store has closed, because
 * the store may call back until then. NULL is fine. */
void scheduler_free(struct scheduler *scheduler);

/* Return the agents; borrowed. */
struct agents *scheduler_agents(const struct scheduler *scheduler);

/* ---- Runs ---- */

/* Accept a run and take ownership of spec. `done` runs on the loop once the run is
 * durable, or with err. idempotency_key and body_hash may be NULL. */
typedef void scheduler_accepted(void *arg, const struct error *err, const char *run);
void scheduler_submit(struct scheduler *scheduler, struct run_spec *spec,
                      const char *idempotency_key, const char *body_hash,
                      scheduler_accepted *done, void *arg);

/* Like scheduler_submit(), with a run ID (id_run) that the caller has chosen. The
 * function takes ownership of `write`, which is committed together with the run, or not
 * at all. */
void scheduler_submit_with(struct scheduler *scheduler, struct run_spec *spec,
                           const char *id, struct store_write *write,
                           scheduler_accepted *done, void *arg);

/* Return the run as GET shows it (docs/reference/api.md), readable by any thread
 * (run_packed.h). Memory contains all runs that have not ended, and recently ended ones.
 * A new reference; NULL if the run is only in the store, or nowhere. */
json_t *scheduler_run_packed(const struct scheduler *scheduler, const char *run);

/* Return the run in its list form. A new reference; NULL if scheduler_run_packed()
 * returns NULL. */
json_t *scheduler_run_listed(const struct scheduler *scheduler, const char *run);

/* Predict the placement of a run without posting it. The result is described under
 * "Validation" in docs/reference/api.md; it lacks the time (history.h). Changes nothing.
 * A new reference. */
json_t *scheduler_preview(const struct scheduler *scheduler, const struct run_spec *spec);

/* Queue the computation of values for a run that ended outside this scheduler, such as an
 * imported run. */
void scheduler_note_end(struct scheduler *scheduler, const char *run);

/* Return true if the run has not ended yet. */
bool scheduler_run_is_active(const struct scheduler *scheduler, const char *run);

/* Prefix of the reason for cancelling a background run in favor of another run. */
#define SCHEDULER_YIELDED "its nodes are needed by run "

/* Request the run's end. Fails with ERROR_NOT_FOUND if the run is not active. */
int scheduler_cancel(struct scheduler *scheduler, const char *run, struct error *err);

/* Change the labels and notes of a run in memory. event: the body of the event `edit`
 * (run_edit.h) with its author; stolen on success. Returns false if the run is only in
 * the store, or nowhere. */
bool scheduler_edit(struct scheduler *scheduler, const char *run, json_t *event);

/* ---- Events of a run ---- */

/* Call `event` for every later event of an active run, after the event is durable, in the
 * order of IDs. A NULL event comes last, when the run has ended. Returns NULL if the run
 * is not active. scheduler_unwatch() stops the calls. */
struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg);
/* Return the ID of the run's latest published event; 0 if the run is not active. */
int64_t scheduler_head(const struct scheduler *scheduler, const char *run);

/* ---- Nodes, for the API ---- */

/* Return all nodes; borrowed, changes over time. */
const struct node_registry *scheduler_nodes(const struct scheduler *scheduler);

/* Set the suspect nodes, which specs may avoid. suspects: an object with one member for
 * each node, borrowed; may change later. */
void scheduler_set_suspects(struct scheduler *scheduler, const json_t *suspects);

/* Check that the run's pattern does not form too many groups. The nodes are those that
 * the spec requests or, if it requests no number, those that the run would get now.
 * Returns false after adding the reason to *problems. */
bool scheduler_plan_fits(const struct scheduler *scheduler, const struct run_spec *spec,
                         struct problems *problems);

/* Return an array of the nodes whose names follow `behind` ("": all nodes), sorted by
 * name. The array contains at least one node and at most about max_bytes. *is_more: true
 * if more nodes follow. */
json_t *scheduler_nodes_page(const struct scheduler *scheduler, const char *behind,
                             bool has_inventory, size_t max_bytes, bool *is_more);
json_t *scheduler_node_json(const struct scheduler *scheduler,
                            const char *name); /* or NULL */

/* Return the input for preflight_of_snapshot(): all alive nodes, and the named node
 * (name may be NULL) even if it is not alive. A new reference; NULL if there is no
 * such node. */
json_t *scheduler_preflight(const struct scheduler *scheduler, const char *name);

void scheduler_counters(const struct scheduler *scheduler,
                        struct scheduler_counters *out);

/* Return the latest answers of checks (last_checks.h); borrowed, changes over time. */
const json_t *scheduler_checks(const struct scheduler *scheduler);

/* Return the latest figures of runs (last_figures.h); borrowed, changes over time. */
const json_t *scheduler_figures(const struct scheduler *scheduler);

/* Call `ready` once the run's values (store_trends.h) exist, if the run has ended and
 * produced any. The values of all other runs that ended since the server's start and
 * before this call then exist, too. err: the values of this run could not be computed. */
void scheduler_await_values(struct scheduler *scheduler, const char *run,
                            store_settled *ready, void *arg);

#endif
