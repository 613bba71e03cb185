/* SPDX-License-Identifier: Apache-2.0 */
/* live_case_state.h - the structs behind cases.h, for the files that make them up */
#ifndef RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H
#define RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H

#include <sys/queue.h>

#include "server/rendezvous/rendezvous.h"
#include "server/runs/cases.h"
#include "server/runs/run.h"
#include "server/runs/services.h"

enum live_stage {
    STAGE_STARTING, /* its start is being stored; nothing was sent yet */
    STAGE_JOINING,
    STAGE_RUNNING,
    STAGE_ENDING /* stops were sent; waiting for the nodes to be clear */
};

struct live_rank {
    int64_t op, done; /* operations begun and finished */
    int64_t checked;  /* parts of results, by the host */
    int64_t links;    /* that NCCL has named while it connected them */
    int64_t size;     /* of the operation, bytes */
    char phase[16];
    int64_t heard_ns;  /* when it last told these; 0: never */
    bool is_reported;  /* its final state is known or on its way to the disk */
    bool was_over;     /* it was when the case stalled */
    bool cannot_reach; /* somebody, as it says */
    char *reason;      /* of its failure */
    int peer;          /* whom it blames, or -1 */
    json_t *process;   /* what its agent saw when it asked for stacks, or NULL */
};

struct live_node {
    struct node *node; /* NULL: not registered when it was last looked for */
    bool is_gone;      /* no worker of the case is left there */
    bool is_lost;
};

struct cases {
    const struct services *services;
    const struct node_registry *nodes;
    struct cases_config config;
    LIST_HEAD(, live_case) live; /* those of a run may go side by side */
    int64_t awaits_nodes_until_ns;
    bool has_freed;
};

struct live_case {
    LIST_ENTRY(live_case) entry;
    struct cases *cases;
    struct run_log *log;
    const struct run *run; /* the log's */
    size_t index;
    struct run_nodes on; /* borrowed from the model */
    enum live_stage stage;
    struct rendezvous_store *store;
    struct live_rank *ranks;
    struct live_node *nodes; /* of `on` */
    int64_t join_until_ns, grace_until_ns, end_until_ns;
    int64_t changed_ns;        /* when any rank last got on */
    int n_joined, n_connected; /* ranks from 0 on that were */
    int failed_first;          /* the rank that failed first, or -1 */
    json_t *lost;              /* the nodes that were lost, as a blame; or NULL */
    bool is_blamed_lost;       /* a lost node explains what the ranks say */
    bool wants_stacks;
    int64_t stalled_ns;          /* since then it is stopped for that; 0: it is not */
    json_t *unreached;           /* who cannot reach whom (unreached.h), or NULL */
    struct transport *transport; /* what ranks said of it (case_transport.h), or NULL */
    json_t *early_logs; /* what they said before their nodes were there, or NULL */
    size_t n_early_taken;
    enum case_state end_state;
    char *end_reason; /* or what says `blamed` */
    json_t *blamed;   /* whom its end names, or NULL */
};

struct live_case *live_case_create(struct cases *cases, struct run_log *log,
                                   size_t index);

/* Closes its store. NULL is fine. */
void live_case_free(struct live_case *live);

/* live_case.c: what cases.c does with each of them. */
void live_case_tick(struct live_case *live, int64_t now_ns);
void live_case_excuse(struct live_case *live, int64_t ns);
void live_case_stop(struct live_case *live, enum case_state state, const char *reason);
void live_case_leaving(struct live_case *live, const struct node *node);
void live_case_forget(struct live_case *live, const struct node *node);
void live_case_reconcile(struct live_case *live, struct node *node, bool still_there,
                         bool is_new);

#endif
