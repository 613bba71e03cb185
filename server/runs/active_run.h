/* SPDX-License-Identifier: Apache-2.0 */
/* active_run.h - the queue of runs that have not ended */
#ifndef RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H
#define RINGBENCH_SERVER_RUNS_ACTIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/runs/run.h"

struct judge_queue;
struct run_log;
struct scheduler;
struct services;

/* A run that has not ended, or whose last events are not on disk yet. */
struct active_run {
    struct scheduler *scheduler;
    struct run_log *log;
    const struct run *run;    /* owned by `log` */
    int64_t waiting_ns;       /* time spent waiting for nodes before the current wait */
    int64_t waiting_since_ns; /* start of the current wait; 0: not waiting */
    /* deadline for missing nodes to return, wall clock; 0: no node is missing */
    int64_t waits_until_ms;
    /* deadline for the next case's busy nodes to become free; 0: not waiting */
    int64_t nodes_until_ns;
    /* number of cases at the start of the run that have ended */
    size_t n_over;
    /* number of nodes at the start of the list whose inventories are stored */
    size_t n_kept;
    size_t lost;    /* number of lost nodes when the latest round was planned */
    bool has_job;   /* true if the run's batch job is running, or the run needs none */
    bool is_judged; /* true if all cases have ended and the run waits for its checks or
                       its job */
    /* true if all events are on disk and the judge queue was notified of the end */
    bool is_noted;
    char *cancel_reason; /* NULL: not cancelled */
    /* deadline for the batch job's answer about a failed run; 0: the job was not asked */
    int64_t asks_until_ns;
    char *failed_reason; /* the reason for the failure, until the batch job answers */
};

/* The runs that have not ended, in the order in which the scheduler serves them. */
struct active_runs {
    struct active_run **items;
    size_t n, capacity;
};

/* Add a run and take ownership of it. head: the ID of its latest event. */
struct run_log *active_runs_add(struct active_runs *runs, struct scheduler *scheduler,
                                const struct services *services, struct run *run,
                                int64_t head);

/* Return the run if some of its events are not stored yet, else NULL. */
struct active_run *active_runs_find(const struct active_runs *runs, const char *run);

/* Queue all runs that have ended so far for the computation of their values, ahead of
 * runs that end later. */
void active_runs_note_ends(struct active_runs *runs, struct judge_queue *queue);

/* active_runs_sweep() frees the ended runs that the judge queue was notified of.
 * active_runs_free() frees all runs. */
void active_runs_sweep(struct active_runs *runs);
void active_runs_free(struct active_runs *runs);

/* Compare priorities, ignoring age. The result is positive if `a` is served before `b`,
 * and negative if after. */
int active_run_rank(const struct run_spec *a, const struct run_spec *b);

/* Return true if the run has ended, or if all its cases have ended and the run waits for
 * its checks or its job. */
bool active_run_is_over(const struct active_run *active);

#endif
