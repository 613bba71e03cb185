/* live_case.h - one case under way: who has joined, who is behind, whom to blame, when
 * to stop */
#ifndef RINGBENCH_SERVER_RUNS_LIVE_CASE_H
#define RINGBENCH_SERVER_RUNS_LIVE_CASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/runs/run.h"

struct active_run;
struct live_case;
struct node;

/* Begin case `index` of a placed run on its nodes, which are all alive and free. It stays
 * queued if there is no port for its store as long as other cases of the run go on. */
void live_case_start(struct active_run *active, size_t index);

/* Take up a running case after a restart of the server. */
void live_case_resume(struct active_run *active, size_t index);

/* Its deadlines come so much later. */
void live_case_excuse(struct live_case *live, int64_t ns);

/* Once a tick: deadlines, stalls, lost nodes, the end of a stop. */
void live_case_tick(struct live_case *live, int64_t now_ns);

/* Stop it; its end will be `state` with `reason`. */
void live_case_stop(struct live_case *live, enum case_state state, const char *reason);

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

/* A rank cannot reach another: event `unreached` of docs/worker-contract.md. */
case_report_taker live_case_unreached;

/* The node's agent is about to leave, workers and all. */
void live_case_leaving(struct live_case *live, const struct node *node);

/* The node is about to be removed. */
void live_case_forget(struct live_case *live, const struct node *node);

/* A registration that says which cases the agent has: one that is missing is gone.
 * is_new: of another agent than before. */
void live_case_reconcile(struct live_case *live, struct node *node, bool still_there,
                         bool is_new);

bool live_case_is(const struct live_case *live, int case_no, int attempt);

/* Whether a final state of the rank was reported already, and note that one is now: a
 * worker that said why it failed need not be explained again when it exits. */
bool live_case_reported(const struct live_case *live, int rank);
void live_case_note_reported(struct live_case *live, int rank);

#endif
