/* SPDX-License-Identifier: Apache-2.0 */
/* cases.h - the cases under way, of all runs: who has joined, who is behind, whom to
 * blame, when to stop */
#ifndef RINGBENCH_SERVER_RUNS_CASES_H
#define RINGBENCH_SERVER_RUNS_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/runs/run.h"

struct cases;
struct live_case;
struct node;
struct node_registry;
struct rendezvous;
struct run_log;
struct services;

struct cases_config {
    struct rendezvous *rendezvous;
    const char *advertise; /* as scheduler_config has it */
    long join_s;
};

/* All is borrowed. */
struct cases *cases_create(const struct services *services,
                           const struct node_registry *nodes,
                           const struct cases_config *config);

/* Drop those under way, with their stores. */
void cases_close(struct cases *cases);

void cases_free(struct cases *cases);

/* ---- Those of a run ---- */

/* Begin case `index` of a placed run on its nodes, which are all alive and free. It stays
 * queued if there is no port for its store as long as other cases of the run go on. */
void cases_start(struct cases *cases, struct run_log *log, size_t index);

/* Take up a running case after a restart of the server. told: events of the case that
 * tell of its ways, or NULL. */
void cases_resume(struct cases *cases, struct run_log *log, size_t index,
                  const json_t *told);

/* Stop all of the run; the end of each will be `state` with `reason`. */
void cases_stop(struct cases *cases, const struct run_log *log, enum case_state state,
                const char *reason);

/* ---- Time ---- */

/* Once a tick: deadlines, stalls, lost nodes, the end of a stop. */
void cases_tick(struct cases *cases, int64_t now_ns);

/* Deadlines come so much later. */
void cases_excuse(struct cases *cases, int64_t ns);

/* Until then nodes that had a case before the server's restart may come back. */
void cases_await_nodes(struct cases *cases, int64_t until_ns);
int64_t cases_awaits_nodes_until_ns(const struct cases *cases);

/* ---- Nodes ---- */

/* node: as registered, or NULL. */
bool cases_is_node_lost(const struct cases *cases, const struct node *node,
                        int64_t now_ns);

/* Whether a case under way is on the node of that name. */
bool cases_are_on(const struct cases *cases, const char *node);

/* The node's agent is about to leave, workers and all. */
void cases_leave(struct cases *cases, const struct node *node);

/* The node is about to be removed. */
void cases_forget(struct cases *cases, const struct node *node);

/* The node's agent registered, and says which cases it has: one under way that is missing
 * is gone, and one that is not under way is told to stop. is_new: of another agent than
 * before. */
void cases_reconcile(struct cases *cases, struct node *node, const json_t *listed,
                     bool is_new);

/* Whether a node became free for other runs since the last such call. */
bool cases_take_freed(struct cases *cases);

/* ---- What agents report ---- */

/* The one under way, or NULL. It stays until the next tick. */
struct live_case *cases_find(const struct cases *cases, const char *run, int case_no,
                             int attempt);
struct run_log *live_case_log(const struct live_case *live);
const struct run_nodes *live_case_nodes(const struct live_case *live);

/* Whether no earlier node of the case has the same network ports: these count once. */
bool live_case_tells_ports(struct live_case *live, const char *node);

/* What an agent reports of the case, once the model knows it. */
struct case_report {
    const char *node;
    int rank; /* -1: it is of the node */
    enum rank_state state;
    const char *reason; /* of a failure, or NULL */
    int peer;           /* the rank that a failed rank blames, or -1 */
    json_t *body;       /* of its event, or what else it tells; or NULL */
};
typedef void case_report_taker(struct live_case *live, const struct case_report *report);

case_report_taker live_case_rank;   /* a rank has come so far, or failed */
case_report_taker live_case_exited; /* a process has: with RANK_DONE well */
case_report_taker live_case_result; /* a row is in */
case_report_taker live_case_output; /* a program prints */
case_report_taker live_case_progress;
case_report_taker live_case_refused; /* the node does not start the case */
case_report_taker live_case_gone;    /* no worker is left on the node */
case_report_taker live_case_nccl;    /* what NCCL's log said of a rank */

case_report_taker live_case_stack; /* what a rank was doing when its agent asked */

/* A rank cannot reach another: event `unreached` of docs/development/worker-contract.md.
 */
case_report_taker live_case_unreached;

/* Whether a final state of the rank was reported already, and note that one is now: a
 * worker that said why it failed need not be explained again when it exits. */
bool live_case_reported(const struct live_case *live, int rank);
void live_case_note_reported(struct live_case *live, int rank);

#endif
