/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_state.h - defines the opaque struct of scheduler.h, for the files that
 * implement it */
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
struct active_runs;
struct cases;
struct judge_queue;
struct placement;
struct run;
struct run_log;

struct scheduler {
    struct services services;
    struct scheduler_config config;
    char *advertise;
    struct node_registry nodes;
    struct cases *cases;
    struct agents *agents;
    struct active_runs *runs;
    uv_timer_t tick;
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
    int open_handles;
    int64_t ticked_ns;       /* monotonic time of the latest tick */
    int64_t clock_offset_ms; /* wall clock minus monotonic clock at the latest tick */
    struct scheduler_counters counters;
    struct judge_queue *judge_queue;
    json_t *checks;  /* latest answers of checks (last_checks.h) */
    json_t *figures; /* latest figures (last_figures.h) */
};

/* Cancel the run, unless its cancellation was already requested. */
void scheduler_cancel_active(struct active_run *active, const char *reason);

/* Add a run and take ownership of it. head: the ID of its latest event. */
struct run_log *scheduler_add(struct scheduler *scheduler, struct run *run, int64_t head);

/* Choose nodes for a run that is not queued, as the next queue check would after serving
 * the runs ahead of it. */
void scheduler_foresee(const struct scheduler *scheduler, const struct run_spec *spec,
                       struct placement *placement);

#endif
