/* SPDX-License-Identifier: Apache-2.0 */
/* cases.h - tracks the cases under way in all runs: their ranks' progress, deadlines,
 * blame and stops */
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

/* Start case `index` of a placed run on its nodes, which must all be alive and free. If
 * no port is free and other cases of the run hold ports, the case stays queued. */
void cases_start(struct cases *cases, struct run_log *log, size_t index);

/* Resume a running case after a server restart. told: the case's stored events that
 * report transports, or NULL. */
void cases_resume(struct cases *cases, struct run_log *log, size_t index,
                  const json_t *told);

/* Stop all cases of the run; each ends as `state` with `reason`. */
void cases_stop(struct cases *cases, const struct run_log *log, enum case_state state,
                const char *reason);

/* ---- Time ---- */

/* Check deadlines, stalls, lost nodes and the end of stops. Call this once per tick. */
void cases_tick(struct cases *cases, int64_t now_ns);

/* Postpone all deadlines by ns. */
void cases_excuse(struct cases *cases, int64_t ns);

/* After a server restart, nodes that had a case may register again until until_ns. Before
 * that time they do not count as lost. */
void cases_await_nodes(struct cases *cases, int64_t until_ns);
int64_t cases_awaits_nodes_until_ns(const struct cases *cases);

/* ---- Nodes ---- */

/* Return true if the node is lost or has left. node: NULL if the node is not registered,
 * which counts as lost once cases_await_nodes() has expired. */
bool cases_is_node_lost(const struct cases *cases, const struct node *node,
                        int64_t now_ns);

/* Return true if a case under way uses the node with that name. */
bool cases_are_on(const struct cases *cases, const char *node);

/* Stop the node's cases, because its agent is about to stop its workers and leave. */
void cases_leave(struct cases *cases, const struct node *node);

/* Fail the node's ranks, because the node is about to be removed. */
void cases_forget(struct cases *cases, const struct node *node);

/* Compare the cases under way with the cases that the node's agent listed when it
 * registered. If the agent did not list a case under way, the node has no workers of it
 * left. A listed case that is not under way is stopped. is_new: true if the agent differs
 * from the previous one. */
void cases_reconcile(struct cases *cases, struct node *node, const json_t *listed,
                     bool is_new);

/* Return true if a node became free for other runs since the last call. */
bool cases_take_freed(struct cases *cases);

/* ---- Reports from agents ---- */

/* Return the case under way, or NULL. The case stays valid until the next tick. */
struct live_case *cases_find(const struct cases *cases, const char *run, int case_no,
                             int attempt);
struct run_log *live_case_log(const struct live_case *live);
const struct run_nodes *live_case_nodes(const struct live_case *live);

/* Return true if the conditions from this node include its network ports. Return false if
 * an earlier node of the case shares the ports, so that their traffic is counted once. */
bool live_case_tells_ports(struct live_case *live, const char *node);

/* An agent's report on a case. The run's model already includes the report. */
struct case_report {
    const char *node;
    int rank; /* -1: the report is about the node */
    enum rank_state state;
    const char *reason; /* of a failure, or NULL */
    int peer;           /* the rank that a failed rank blames, or -1 */
    json_t *body;       /* the body of the report's event, or further data; may be NULL */
};
typedef void case_report_taker(struct live_case *live, const struct case_report *report);

case_report_taker live_case_rank;   /* a rank reached a state or failed */
case_report_taker live_case_exited; /* a process exited; RANK_DONE: its exit code was 0 */
case_report_taker live_case_result; /* a result row arrived */
case_report_taker live_case_output; /* a program printed output */
case_report_taker live_case_progress;
case_report_taker live_case_refused; /* the node refuses to start the case */
case_report_taker live_case_gone;    /* no worker is left on the node */
case_report_taker live_case_nccl;    /* a rank's NCCL log */

case_report_taker live_case_stack; /* a rank's stack, requested by its agent */

/* A rank cannot reach another rank (event `unreached` in
 * docs/development/worker-contract.md). */
case_report_taker live_case_unreached;

/* live_case_reported() returns true if the rank reported its final state, and
 * live_case_note_reported() records such a report. After a worker reports its failure,
 * its exit needs no further explanation. */
bool live_case_reported(const struct live_case *live, int rank);
void live_case_note_reported(struct live_case *live, int rank);

#endif
