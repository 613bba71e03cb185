/* SPDX-License-Identifier: Apache-2.0 */
/* cases.h - the cases under way in all runs: their ranks' progress, deadlines, blame and
 * stops */
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
    const char *advertise; /* see scheduler_config */
    long join_s;
};

/* All arguments are borrowed. */
struct cases *cases_create(const struct services *services,
                           const struct node_registry *nodes,
                           const struct cases_config *config);

/* Drop the cases under way and their stores. */
void cases_close(struct cases *cases);

void cases_free(struct cases *cases);

/* ---- Cases of a run ---- */

/* Start case `index` of a placed run on its nodes, which are all alive and free. The
 * case stays queued if its store gets no port while other cases of the run continue. */
void cases_start(struct cases *cases, struct run_log *log, size_t index);

/* Resume a running case after a server restart. told: the case's events that report
 * transports, or NULL. */
void cases_resume(struct cases *cases, struct run_log *log, size_t index,
                  const json_t *told);

/* Stop all cases of the run; each ends as `state` with `reason`. */
void cases_stop(struct cases *cases, const struct run_log *log, enum case_state state,
                const char *reason);

/* ---- Time ---- */

/* Call once per tick: checks deadlines, stalls, lost nodes and the end of stops. */
void cases_tick(struct cases *cases, int64_t now_ns);

/* Postpone all deadlines by ns. */
void cases_excuse(struct cases *cases, int64_t ns);

/* Allow nodes that had a case before the server's restart to return until until_ns. */
void cases_await_nodes(struct cases *cases, int64_t until_ns);
int64_t cases_awaits_nodes_until_ns(const struct cases *cases);

/* ---- Nodes ---- */

/* node: the registered node, or NULL. */
bool cases_is_node_lost(const struct cases *cases, const struct node *node,
                        int64_t now_ns);

/* Whether a case under way uses the node with that name. */
bool cases_are_on(const struct cases *cases, const char *node);

/* The node's agent is about to leave, and its workers with it. */
void cases_leave(struct cases *cases, const struct node *node);

/* The node is about to be removed. */
void cases_forget(struct cases *cases, const struct node *node);

/* The node's agent registered and listed its cases. A case under way that is not listed
 * is gone; a listed case that is not under way is stopped. is_new: the agent differs
 * from the previous one. */
void cases_reconcile(struct cases *cases, struct node *node, const json_t *listed,
                     bool is_new);

/* Whether a node became free for other runs since the last call. */
bool cases_take_freed(struct cases *cases);

/* ---- What agents report ---- */

/* Return the case under way, or NULL. The case stays valid until the next tick. */
struct live_case *cases_find(const struct cases *cases, const char *run, int case_no,
                             int attempt);
struct run_log *live_case_log(const struct live_case *live);
const struct run_nodes *live_case_nodes(const struct live_case *live);

/* Whether no earlier node of the case shares the node's network ports, so that shared
 * ports count once. */
bool live_case_tells_ports(struct live_case *live, const char *node);

/* An agent's report on a case, passed on after the model was updated. */
struct case_report {
    const char *node;
    int rank; /* -1: the report is about the node */
    enum rank_state state;
    const char *reason; /* of a failure, or NULL */
    int peer;           /* the rank that a failed rank blames, or -1 */
    json_t *body;       /* the body of its event, or further data; or NULL */
};
typedef void case_report_taker(struct live_case *live, const struct case_report *report);

case_report_taker live_case_rank;   /* a rank reached a state or failed */
case_report_taker live_case_exited; /* a process exited; RANK_DONE: successfully */
case_report_taker live_case_result; /* a row arrived */
case_report_taker live_case_output; /* a program printed output */
case_report_taker live_case_progress;
case_report_taker live_case_refused; /* the node refuses to start the case */
case_report_taker live_case_gone;    /* no worker is left on the node */
case_report_taker live_case_nccl;    /* a rank's NCCL log */

case_report_taker live_case_stack; /* a rank's stack, requested by its agent */

/* A rank cannot reach another: event `unreached` in docs/development/worker-contract.md.
 */
case_report_taker live_case_unreached;

/* live_case_reported() returns whether a final state of the rank was reported;
 * live_case_note_reported() records that. A worker that reported its failure needs no
 * further explanation when it exits. */
bool live_case_reported(const struct live_case *live, int rank);
void live_case_note_reported(struct live_case *live, int rank);

#endif
