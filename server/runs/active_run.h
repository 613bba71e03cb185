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
    const struct run *run; /* the log's */
    int64_t waiting_ns; /* time spent waiting for nodes, and the start of the present wait
                           (0: not waiting) */
    int64_t waiting_since_ns;
    int64_t waits_until_ms; /* deadline for missing nodes, wall clock; 0: none missing */
    int64_t nodes_until_ns; /* until when the next case waits for the run's own nodes */
    size_t n_over;          /* ended cases, counted from the run's first */
    size_t n_kept;       /* nodes with a stored inventory, counted from the run's first */
    size_t lost;         /* lost nodes of the run when its latest round was planned */
    bool has_job;        /* its batch job runs, or it needs none */
    bool is_judged;      /* its cases have ended and its checks are being judged */
    bool is_noted;       /* all its events are on disk, so its values can be made */
    char *cancel_reason; /* NULL: not cancelled */
    int64_t
        asks_until_ns;   /* the run failed: deadline for its job's reason; 0: not asked */
    char *failed_reason; /* the reason known before the job answers */
};

/* In the order in which the scheduler serves them. */
struct active_runs {
    struct active_run **items;
    size_t n, capacity;
};

/* Add a run (taken). head: the ID of its latest event. */
struct run_log *active_runs_add(struct active_runs *runs, struct scheduler *scheduler,
                                const struct services *services, struct run *run,
                                int64_t head);

/* Return the run if some of its events are not stored yet, else NULL. */
struct active_run *active_runs_find(const struct active_runs *runs, const char *run);

/* Queue the values of all runs that have ended so far, ahead of runs that end later. */
void active_runs_note_ends(struct active_runs *runs, struct judge_queue *queue);

/* active_runs_sweep() frees the runs whose ends were noted; active_runs_free() frees
 * all. */
void active_runs_sweep(struct active_runs *runs);
void active_runs_free(struct active_runs *runs);

/* Compare priorities without regard to age: above 0 if a is served before b, below 0 if
 * after b. */
int active_run_rank(const struct run_spec *a, const struct run_spec *b);

/* Whether nothing more will happen in the run, though its end may not be published yet.
 */
bool active_run_is_over(const struct active_run *active);

#endif
