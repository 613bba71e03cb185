/* active_run.h - the runs that have not ended */
#ifndef RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H
#define RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "server/runs/run.h"

struct live_case;
struct run_watches;
struct scheduler;

/* A run that has not ended, or whose last events are still on their way to the disk. */
struct active_run {
    struct scheduler *scheduler;
    struct run *run;
    LIST_HEAD(, live_case) live; /* the cases under way, on nodes of their own */
    struct run_watches *watches;
    size_t pending;     /* writes and batches that still refer to this struct */
    int64_t waiting_ns; /* waited for nodes so far, and since when (0: not now) */
    int64_t waiting_since_ns;
    int64_t waits_until_ms; /* for missing nodes, by the wall clock; 0: not now */
    int64_t deadline_ns;    /* of the whole run, once started */
    int64_t nodes_until_ns; /* how long the next case waits for the run's own nodes */
    size_t n_over;          /* cases, the first of the run, that have ended */
    size_t lost;            /* of the run's nodes, when its latest round was planned */
    bool has_job;           /* it needs none to wait for, or that one runs */
    bool is_cancelling;
    bool is_judged; /* its cases have ended; what its checks say is being found out */
    char *cancel_reason;
    int64_t asks_until_ns; /* it has failed, and its job is asked why; 0: it is not */
    char *failed_reason;   /* then: what is known already */
};

/* Takes the run. head: the id of its latest event. */
struct active_run *active_run_add(struct scheduler *scheduler, struct run *run,
                                  int64_t head);
struct active_run *active_run_find(const struct scheduler *scheduler, const char *run);
void active_run_free(struct active_run *active);

/* The case of that number, if it is under way; or NULL. */
struct live_case *active_run_live(const struct active_run *active, int case_no);

/* Nothing more will happen in it, though its end may not have been told yet. */
bool active_run_is_over(const struct active_run *active);

/* Drop a reference that `pending` counted. */
void active_run_unref(struct active_run *active);

#endif
