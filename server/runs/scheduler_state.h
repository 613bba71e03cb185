/* scheduler_state.h - the struct behind scheduler.h, for the files that make it up, and
 * what keeps it alive */
#ifndef RINGBENCH_SERVER_RUNS_SCHEDULER_STATE_H
#define RINGBENCH_SERVER_RUNS_SCHEDULER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "server/nodes/node.h"
#include "server/runs/scheduler.h"

struct active_run;
struct history;
struct judge_queue;

struct scheduler {
    uv_loop_t *loop;
    struct scheduler_config config;
    char *advertise;
    struct node_registry nodes;
    struct active_run **runs; /* in the order in which they are served */
    size_t n_runs, runs_capacity;
    uv_timer_t tick;
    uv_idle_t soon; /* runs a tick at the end of this turn of the loop */
    uv_idle_cb on_soon;
    bool is_queue_changed; /* since it was last looked at */
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
    int open_handles;
    size_t pending;              /* writes whose callbacks will still come here */
    size_t n_batches;            /* of agents' events among them */
    int64_t ticked_ns;           /* when the queue was last looked at */
    int64_t clock_offset_ms;     /* of the wall clock from the monotonic one, then */
    int64_t recovering_until_ns; /* until then nodes of recovered runs may come back */
    struct scheduler_counters counters;
    struct history *history;
    struct judge_queue *judge_queue;
    json_t *checks; /* last_checks.h */
};

/* The scheduler outlives every write that will call it back, also after its close. */
void scheduler_hold(struct scheduler *scheduler);
void scheduler_release(struct scheduler *scheduler);

/* How long a poll is held, and an agent may be silent. */
int64_t scheduler_poll_s(const struct scheduler *scheduler);
int64_t scheduler_lease_s(const struct scheduler *scheduler);

/* By the clock that it was given: the one place that reads it. */
struct clock_time scheduler_now(const struct scheduler *scheduler);

/* Have a tick before the loop waits again. */
void scheduler_wake(struct scheduler *scheduler);

/* The same, and look for nodes for waiting runs: something changed that can let one of
 * them begin, as nodes did, or the runs that use them. */
void scheduler_wake_queue(struct scheduler *scheduler);

#endif
