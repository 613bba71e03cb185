/* live_case_state.h - the struct behind live_case.h, for the files that make it up */
#ifndef RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H
#define RINGBENCH_SERVER_RUNS_LIVE_CASE_STATE_H

#include <sys/queue.h>

#include "server/rendezvous/rendezvous.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"

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

struct live_case {
    LIST_ENTRY(live_case) entry; /* of its run's */
    struct active_run *active;
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

/* One more of its run. */
struct live_case *live_case_create(struct active_run *active, size_t index,
                                   int64_t now_ns);

/* Closes its store. NULL is fine. */
void live_case_free(struct live_case *live);

#endif
