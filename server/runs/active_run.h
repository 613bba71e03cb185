/* active_run.h - the runs that have not ended, as the queue has them */
#ifndef RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H
#define RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/runs/run.h"

struct run_log;
struct scheduler;

/* A run that has not ended, or whose last events are still on their way to the disk. */
struct active_run {
    struct scheduler *scheduler;
    struct run_log *log;
    const struct run *run; /* the log's */
    int64_t waiting_ns;    /* waited for nodes so far, and since when (0: not now) */
    int64_t waiting_since_ns;
    int64_t waits_until_ms; /* for missing nodes, by the wall clock; 0: not now */
    int64_t nodes_until_ns; /* how long the next case waits for the run's own nodes */
    size_t n_over;          /* cases, the first of the run, that have ended */
    size_t n_kept;          /* nodes, the first of the run, whose inventory is kept */
    size_t lost;            /* of the run's nodes, when its latest round was planned */
    bool has_job;           /* it needs none to wait for, or that one runs */
    bool is_judged; /* its cases have ended; what its checks say is being found out */
    bool is_noted;  /* its values are to be made: all of it is on disk */
    char *cancel_reason;   /* NULL: it is not cancelled */
    int64_t asks_until_ns; /* it has failed, and its job is asked why; 0: it is not */
    char *failed_reason;   /* then: what is known already */
};

struct active_run *active_run_find(const struct scheduler *scheduler, const char *run);

/* Have the values made of those that have ended by now, before those that end next. */
void active_run_note_ends(struct scheduler *scheduler);

/* Free those of which nothing is on its way to the disk any more; or all. */
void active_run_sweep(struct scheduler *scheduler);
void active_run_free_all(struct scheduler *scheduler);

/* Nothing more will happen in it, though its end may not have been told yet. */
bool active_run_is_over(const struct active_run *active);

#endif
