/* scheduler_state.h - the struct behind scheduler.h, for the files that make it up */
#ifndef RINGBENCH_SERVER_RUNS_SCHEDULER_STATE_H
#define RINGBENCH_SERVER_RUNS_SCHEDULER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "server/nodes/node.h"
#include "server/runs/scheduler.h"
#include "server/runs/services.h"

struct active_run;
struct cases;
struct history;
struct judge_queue;

struct scheduler {
    struct services services;
    struct scheduler_config config;
    char *advertise;
    struct node_registry nodes;
    struct cases *cases;
    struct active_run **runs; /* in the order in which they are served */
    size_t n_runs, runs_capacity;
    uv_timer_t tick;
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
    int open_handles;
    size_t n_batches;        /* of agents' events on their way to the disk */
    int64_t ticked_ns;       /* when the queue was last looked at */
    int64_t clock_offset_ms; /* of the wall clock from the monotonic one, then */
    struct scheduler_counters counters;
    struct history *history;
    struct judge_queue *judge_queue;
    json_t *checks; /* last_checks.h */
};

/* How long a poll is held, and an agent may be silent. */
int64_t scheduler_poll_s(const struct scheduler *scheduler);
int64_t scheduler_lease_s(const struct scheduler *scheduler);

/* By the clock that it was given. */
struct clock_time scheduler_now(const struct scheduler *scheduler);

#endif
