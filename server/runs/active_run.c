/* active_run.c - the runs that have not ended: their list, and what keeps them alive */
#include "server/runs/active_run.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run.h"
#include "server/runs/run_watches.h"
#include "server/runs/scheduler_state.h"

static bool goes_before(const struct run *a, const struct run *b)
{
    if (a->spec->priority != b->spec->priority)
        return a->spec->priority > b->spec->priority;
    return a->created_ms < b->created_ms;
}

struct active_run *active_run_add(struct scheduler *scheduler, struct run *run,
                                  int64_t head)
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
    active->run = run;
    active->watches = run_watches_create(head);
    return active;
}

struct active_run *active_run_find(const struct scheduler *scheduler, const char *run)
{
    for (size_t i = 0; i < scheduler->n_runs; i++)
        if (strcmp(scheduler->runs[i]->run->id, run) == 0)
            return scheduler->runs[i];
    return NULL;
}

void active_run_free(struct active_run *active)
{
    struct scheduler *scheduler = active->scheduler;
    size_t i = 0;

    while (i < scheduler->n_runs && scheduler->runs[i] != active)
        i++;
    if (i < scheduler->n_runs) {
        memmove(&scheduler->runs[i], &scheduler->runs[i + 1],
                (scheduler->n_runs - i - 1) * sizeof(scheduler->runs[0]));
        scheduler->n_runs--;
    }
    run_watches_destroy(active->watches);
    while (!LIST_EMPTY(&active->live))
        live_case_free(LIST_FIRST(&active->live));
    run_destroy(active->run);
    free(active->cancel_reason);
    free(active->failed_reason);
    free(active);
}

struct live_case *active_run_live(const struct active_run *active, int case_no)
{
    struct live_case *live;

    LIST_FOREACH (live, &active->live, entry)
        if (live->index == (size_t)case_no)
            break;
    return live;
}

bool active_run_is_over(const struct active_run *active)
{
    return active->is_judged || run_has_ended(active->run);
}

void active_run_unref(struct active_run *active)
{
    if (--active->pending > 0 || !run_has_ended(active->run))
        return;
    /* Watchers may leave inside the call, but the run must stay until it is over. */
    active->pending++;
    run_watches_tell(active->watches, NULL);
    active->pending--;
    active_run_free(active);
}
