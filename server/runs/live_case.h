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
struct live_case *live_case_resume(struct active_run *active, size_t index);

/* Its deadlines come so much later. */
void live_case_excuse(struct live_case *live, int64_t ns);

/* Once a tick: deadlines, stalls, lost nodes, the end of a stop. */
void live_case_tick(struct live_case *live, int64_t now_ns);

/* Stop it; its end will be `state` with `reason`. */
void live_case_stop(struct live_case *live, enum case_state state, const char *reason);

/* What agents report, after it is durable and the model knows it. */
struct rank_report {
    int rank;
    enum rank_state state;
    const char *reason; /* of a failure */
    int peer;           /* the rank that a failed rank blames, or -1 */
};
void live_case_rank(struct live_case *live, const struct rank_report *report);

/* No worker is left on the node. why: for ranks that ended without a word, or NULL. */
void live_case_gone(struct live_case *live, const char *node, const char *why);
void live_case_refused(struct live_case *live, const char *node, const char *reason);
void live_case_exited_well(struct live_case *live, int rank);

/* What a rank was doing when its agent asked: event `stack` of docs/agent-protocol.md. */
void live_case_stack(struct live_case *live, int rank, const json_t *event);

/* What NCCL's RAS said of the case to one of its nodes: `says` of event `ras`. */
void live_case_ras(struct live_case *live, const json_t *says);

/* A rank cannot reach another: event `unreached` of docs/worker-contract.md. */
void live_case_unreached(struct live_case *live, int rank, json_t *way);

/* What NCCL's log said of a rank: `log` of event `nccl`. */
void live_case_nccl(struct live_case *live, int rank, json_t *log);

/* A result row is in. */
void live_case_result(struct live_case *live);

/* The node's agent is about to leave, workers and all. */
void live_case_leaving(struct live_case *live, const struct node *node);

/* The node is about to be removed. */
void live_case_forget(struct live_case *live, const struct node *node);

/* A progress line (not stored). */
void live_case_progress(struct live_case *live, int rank, const json_t *event);

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
