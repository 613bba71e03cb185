/* state.h - what the scheduler's own files share */
#ifndef RINGBENCH_SERVER_RUNS_STATE_H
#define RINGBENCH_SERVER_RUNS_STATE_H

#include "server/nodes/node.h"
#include "server/runs/case_control.h"
#include "server/runs/history.h"
#include "server/runs/last_checks.h"
#include "server/runs/run.h"
#include "server/runs/scheduler.h"

/* A run that has not ended, or whose last events are still on their way to the disk. */
struct active_run {
    struct scheduler *scheduler;
    struct run *run;
    struct live_case *live; /* the case under way, or NULL */
    struct scheduler_watch *watches;
    int64_t head;       /* id of the latest published event */
    size_t pending;     /* writes and batches that still refer to this struct */
    int64_t waiting_ns; /* waited for nodes so far, and since when (0: not now) */
    int64_t waiting_since_ns;
    int64_t deadline_ns;    /* of the whole run, once started */
    int64_t nodes_until_ns; /* how long the next case waits for the run's own nodes */
    bool is_cancelling;
    bool is_judged; /* its cases have ended; what its checks say is being found out */
    char *cancel_reason;
};

struct scheduler {
    uv_loop_t *loop;
    struct scheduler_config config;
    char *advertise;
    struct node_registry nodes;
    struct active_run **runs; /* in the order in which they are served */
    size_t n_runs;
    uv_timer_t tick;
    uv_idle_t soon; /* runs a tick at the end of this turn of the loop */
    uv_idle_cb on_soon;
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
    struct last_checks checks;
};

/* ---- emit.c ---- */

/* Let the run's model take an event (body stolen), write it, and when it is durable show
 * it to watchers and call `then` (may be NULL).
 *
 * The one rule of all events, those of agents too: the model takes an event when it goes
 * into the queue to the disk, and the queue is written in its order. So the model is what
 * the log will say, in any interleaving, and a crash loses no more than what nobody was
 * shown or told was stored. */
typedef void emitted(struct active_run *active);
void emit(struct active_run *active, const char *type, json_t *body, emitted *then);

/* Write the cases that changed since they were last written, mostly one: a run may have a
 * thousand, with a thousand ranks each. -1 when the write is spoilt. */
int emit_cases(struct store_write *write, struct run *run);
void emit_state(struct active_run *active, enum run_state state, const char *reason);
void emit_case(struct active_run *active, size_t index, int attempt,
               enum case_state state, const char *reason, emitted *then);

/* Its failure, and whom it names; the reason is the sentence of it. */
void emit_case_blamed(struct active_run *active, size_t index, int attempt,
                      json_t *blamed);
void emit_message(struct active_run *active, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- active_run.c ---- */

/* Takes the run; NULL when memory is out, and then does not. */
struct active_run *active_run_add(struct scheduler *scheduler, struct run *run);
struct active_run *active_run_find(const struct scheduler *scheduler, const char *run);
void active_run_free(struct active_run *active);

/* Nothing more will happen in it, though its end may not have been told yet. */
bool active_run_is_over(const struct active_run *active);

/* Drop a reference that `pending` counted. */
void active_run_unref(struct active_run *active);

/* Show a durable event to the run's watchers. */
void publish(struct active_run *active, const struct store_event *event);

/* The scheduler outlives every write that will call it back, also after its close. */
void scheduler_hold(struct scheduler *scheduler);
void scheduler_release(struct scheduler *scheduler);

/* By the clock that it was given: the one place that reads it. */
struct clock_time scheduler_now(const struct scheduler *scheduler);

/* Have the queue looked at before the loop waits again. */
void scheduler_wake(struct scheduler *scheduler);

#endif
