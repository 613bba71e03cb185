/* SPDX-License-Identifier: Apache-2.0 */
/* live_case_state.h - defines the opaque structs of cases.h, for the files that implement
 * it */
#ifndef RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H
#define RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H

#include <sys/queue.h>

#include "server/rendezvous/rendezvous.h"
#include "server/runs/cases.h"
#include "server/runs/run.h"
#include "server/runs/services.h"

enum live_stage {
    STAGE_STARTING, /* the start event is being stored; no command was sent yet */
    STAGE_JOINING,
    STAGE_RUNNING,
    STAGE_ENDING /* stops were sent; some nodes still have workers */
};

struct live_rank {
    int64_t op, done; /* number of operations started and finished */
    int64_t checked;  /* number of result parts that the host has checked */
    int64_t links;    /* number of connections that NCCL's log has named so far */
    int64_t size;     /* size of the current operation, bytes */
    char phase[16];
    int64_t heard_ns;  /* time of the latest progress report; 0: none yet */
    bool is_reported;  /* the rank's final state is known, or is being stored */
    bool was_over;     /* value of is_reported when the stall was detected */
    bool cannot_reach; /* the rank reports that it cannot reach another rank */
    char *reason;      /* why the rank failed */
    int peer;          /* the rank that this rank blames, or -1 */
    /* the state of the rank's process, from the agent's answer to a stack request; or
     * NULL */
    json_t *process;
};

struct live_node {
    struct node *node; /* NULL if the node was not registered at the latest lookup */
    bool is_gone;      /* no worker of the case is left on the node */
    bool is_lost;
};

struct cases {
    const struct services *services;
    const struct node_registry *nodes;
    struct cases_config config;
    LIST_HEAD(, live_case) live; /* cases of one run may run in parallel */
    int64_t awaits_nodes_until_ns;
    bool has_freed;
};

struct live_case {
    LIST_ENTRY(live_case) entry;
    struct cases *cases;
    struct run_log *log;
    const struct run *run; /* owned by `log` */
    size_t index;
    struct run_nodes on; /* the case's nodes, borrowed from the model */
    enum live_stage stage;
    struct rendezvous_store *store;
    struct live_rank *ranks;
    struct live_node *nodes; /* one for each node of `on` */
    int64_t join_until_ns, grace_until_ns, end_until_ns;
    int64_t changed_ns; /* time of the latest progress of any rank */
    /* ranks below n_joined have joined; ranks below n_connected have connected */
    int n_joined, n_connected;
    int failed_first;    /* the rank that failed first, or -1 */
    json_t *lost;        /* a blame for the lost nodes, or NULL */
    bool is_blamed_lost; /* a lost node explains the ranks' reports */
    bool wants_stacks;
    int64_t stalled_ns;          /* time at which a stall stopped the case; 0: no stall */
    json_t *unreached;           /* reported pairs of ranks that cannot reach each other
                                    (unreached.h), or NULL */
    struct transport *transport; /* the ranks' transports (case_transport.h), or NULL */
    json_t *early_logs; /* logs that arrived before the nodes registered, or NULL */
    size_t n_early_taken;
    enum case_state end_state;
    char *end_reason; /* NULL: use the sentence of `blamed`, if any */
    json_t *blamed;   /* the ranks or nodes blamed for the end, or NULL */
};

struct live_case *live_case_create(struct cases *cases, struct run_log *log,
                                   size_t index);

/* Free the case and close its store. NULL is fine. */
void live_case_free(struct live_case *live);

/* Operations in live_case.c that cases.c applies to each case. */
void live_case_tick(struct live_case *live, int64_t now_ns);
void live_case_excuse(struct live_case *live, int64_t ns);
void live_case_stop(struct live_case *live, enum case_state state, const char *reason);
void live_case_leaving(struct live_case *live, const struct node *node);
void live_case_forget(struct live_case *live, const struct node *node);
void live_case_reconcile(struct live_case *live, struct node *node, bool still_there,
                         bool is_new);

#endif
