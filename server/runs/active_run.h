/* SPDX-License-Identifier: Apache-2.0 */
/* active_run.h - the runs that have not ended, as the queue has them */
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

/* In the order in which they are served. */
struct active_runs {
    struct active_run **items;
    size_t n, capacity;
};

/* Takes the run. head: the id of its latest event. */
struct run_log *active_runs_add(struct active_runs *runs, struct scheduler *scheduler,
                                const struct services *services, struct run *run,
                                int64_t head);

/* One of which the store has not all yet, or NULL. */
struct active_run *active_runs_find(const struct active_runs *runs, const char *run);

/* Have the values made of those that have ended by now, before those that end next. */
void active_runs_note_ends(struct active_runs *runs, struct judge_queue *queue);

/* Free those whose ends were noted; or all. */
void active_runs_sweep(struct active_runs *runs);
void active_runs_free(struct active_runs *runs);

/* Above 0: a is served before b, whatever their ages; below 0: after it. */
int active_run_rank(const struct run_spec *a, const struct run_spec *b);

/* Nothing more will happen in it, though its end may not have been told yet. */
bool active_run_is_over(const struct active_run *active);

#endif
