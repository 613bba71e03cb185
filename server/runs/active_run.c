/* active_run.c - the runs that have not ended: their list, in the order of the queue */
#include "server/runs/active_run.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/runs/judge_queue.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/scheduler_state.h"

static bool goes_before(const struct run *a, const struct run *b)
{
    if (a->spec->priority != b->spec->priority)
        return a->spec->priority > b->spec->priority;
    return a->created_ms < b->created_ms;
}

struct run_log *active_run_add(struct scheduler *scheduler, struct run *run, int64_t head)
{
    struct active_run *active = memory_zeroed(1, sizeof(*active), "a run");
    struct active_run **runs;
    size_t at = scheduler->n_runs;

    scheduler->runs = memory_grown(scheduler->runs, at, &scheduler->runs_capacity,
                                   sizeof(*scheduler->runs), "the runs");
    runs = scheduler->runs;
    while (at > 0 && goes_before(run, runs[at - 1]->run)) {
        runs[at] = runs[at - 1];
        at--;
    }
    runs[at] = active;
    scheduler->n_runs++;
    active->scheduler = scheduler;
    active->log = run_log_create(&scheduler->services, run, head);
    active->run = run;
    return active->log;
}

/* One that is done is the store's. */
struct active_run *active_run_find(const struct scheduler *scheduler, const char *run)
{
    for (size_t i = 0; i < scheduler->n_runs; i++)
        if (strcmp(scheduler->runs[i]->run->id, run) == 0)
            return run_log_is_done(scheduler->runs[i]->log) ? NULL : scheduler->runs[i];
    return NULL;
}

static void release(struct active_run *active)
{
    run_log_destroy(active->log);
    free(active->cancel_reason);
    free(active->failed_reason);
    free(active);
}

void active_run_note_ends(struct scheduler *scheduler)
{
    for (size_t i = 0; i < scheduler->n_runs; i++) {
        struct active_run *active = scheduler->runs[i];

        if (run_log_is_done(active->log) && !active->is_noted)
            judge_queue_note_end(scheduler->judge_queue, active->run->id);
        active->is_noted = run_log_is_done(active->log);
    }
}

void active_run_sweep(struct scheduler *scheduler)
{
    size_t n = 0;

    active_run_note_ends(scheduler);
    for (size_t i = 0; i < scheduler->n_runs; i++)
        if (scheduler->runs[i]->is_noted)
            release(scheduler->runs[i]);
        else
            scheduler->runs[n++] = scheduler->runs[i];
    scheduler->n_runs = n;
}

void active_run_free_all(struct scheduler *scheduler)
{
    for (size_t i = 0; i < scheduler->n_runs; i++)
        release(scheduler->runs[i]);
    free(scheduler->runs);
}

bool active_run_is_over(const struct active_run *active)
{
    return active->is_judged || run_has_ended(active->run);
}
