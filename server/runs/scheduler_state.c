/* scheduler_state.c - the scheduler's memory and its clock */
#include "server/runs/scheduler_state.h"

#include <stdlib.h>

#include "server/runs/active_run.h"
#include "server/runs/history.h"

#define POLLS_PER_S 1000

void scheduler_free(struct scheduler *scheduler)
{
    if (!scheduler)
        return;
    active_run_free_all(scheduler);
    node_registry_release(&scheduler->nodes);
    history_destroy(scheduler->history);
    json_decref(scheduler->checks);
    wake_free(scheduler->services.wake);
    free(scheduler->advertise);
    free(scheduler);
}

/* Polls of many agents are held longer, or there would be more of them per second the
 * more agents there are. */
int64_t scheduler_poll_s(const struct scheduler *scheduler)
{
    const struct scheduler_config *config = &scheduler->config;
    int64_t fair = (int64_t)scheduler->nodes.count / POLLS_PER_S;
    int64_t most = config->lease_s * 2 / 3;

    fair = fair < most ? fair : most;
    return fair > config->poll_s ? fair : config->poll_s;
}

/* An agent has as long to come back after an answer as in a small fleet. */
int64_t scheduler_lease_s(const struct scheduler *scheduler)
{
    return scheduler->config.lease_s + scheduler_poll_s(scheduler) -
           scheduler->config.poll_s;
}

struct clock_time scheduler_now(const struct scheduler *scheduler)
{
    return clock_read(scheduler->services.clock);
}
