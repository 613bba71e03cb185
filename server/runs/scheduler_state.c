/* scheduler_state.c - what keeps the scheduler alive, its clock and its waking */
#include "server/runs/scheduler_state.h"

#include <stdlib.h>

#include "server/runs/active_run.h"
#include "server/runs/history.h"

static void scheduler_free(struct scheduler *scheduler)
{
    while (scheduler->n_runs > 0)
        active_run_free(scheduler->runs[0]);
    free(scheduler->runs);
    node_registry_release(&scheduler->nodes);
    history_destroy(scheduler->history);
    last_checks_release(&scheduler->checks);
    free(scheduler->advertise);
    free(scheduler);
}

void scheduler_hold(struct scheduler *scheduler)
{
    scheduler->pending++;
}

void scheduler_release(struct scheduler *scheduler)
{
    if (--scheduler->pending == 0)
        scheduler_free(scheduler);
}

struct clock_time scheduler_now(const struct scheduler *scheduler)
{
    return clock_read(scheduler->config.clock);
}

void scheduler_wake(struct scheduler *scheduler)
{
    if (!scheduler->is_closing)
        uv_idle_start(&scheduler->soon, scheduler->on_soon);
}
