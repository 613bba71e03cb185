/* active_run.c - the runs that have not ended: their list, their watchers, and what keeps
 * them and the scheduler alive */
#include "server/runs/active_run.h"

#include <stdlib.h>
#include <string.h>

#include "server/runs/live_case_state.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"

struct scheduler_watch {
    struct active_run *active; /* NULL once the run has gone */
    struct scheduler_watch *next;
    scheduler_event *event;
    void *arg;
    bool is_dead; /* unwatched while its list is walked */
    int calls;    /* its callback is running */
};

/* ---- Watchers ---- */

static void sweep_watches(struct active_run *active)
{
    struct scheduler_watch **link = &active->watches;

    while (*link) {
        struct scheduler_watch *watch = *link;

        if (watch->is_dead && watch->calls == 0) {
            *link = watch->next;
            free(watch);
        } else {
            link = &watch->next;
        }
    }
}

static void tell_watches(struct active_run *active, const struct store_event *event)
{
    for (struct scheduler_watch *watch = active->watches; watch; watch = watch->next) {
        if (watch->is_dead)
            continue;
        watch->calls++;
        watch->event(watch->arg, event);
        watch->calls--;
    }
    sweep_watches(active);
}

void active_run_publish(struct active_run *active, const struct store_event *event)
{
    active->head = event->id;
    active->scheduler->counters.events++;
    tell_watches(active, event);
}

/* The run is going: what still watches it is on its own. */
static void detach_watches(struct active_run *active)
{
    while (active->watches) {
        struct scheduler_watch *watch = active->watches;

        active->watches = watch->next;
        watch->active = NULL;
        if (watch->is_dead)
            free(watch);
    }
}

void scheduler_unwatch(struct scheduler_watch *watch)
{
    if (!watch)
        return;
    if (!watch->active) {
        free(watch);
        return;
    }
    watch->is_dead = true;
    if (watch->calls == 0)
        sweep_watches(watch->active);
}

/* ---- The list ---- */

static bool goes_before(const struct run *a, const struct run *b)
{
    if (a->spec->priority != b->spec->priority)
        return a->spec->priority > b->spec->priority;
    return a->created_ms < b->created_ms;
}

struct active_run *active_run_add(struct scheduler *scheduler, struct run *run)
{
    struct active_run **runs;
    struct active_run *active = calloc(1, sizeof(*active));
    size_t at = scheduler->n_runs;

    runs = realloc(scheduler->runs, (at + 1) * sizeof(*runs));
    if (runs)
        scheduler->runs = runs;
    if (!runs || !active) {
        free(active);
        return NULL;
    }
    while (at > 0 && goes_before(run, runs[at - 1]->run)) {
        runs[at] = runs[at - 1];
        at--;
    }
    runs[at] = active;
    scheduler->n_runs++;
    active->scheduler = scheduler;
    active->run = run;
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
    detach_watches(active);
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
    tell_watches(active, NULL);
    active->pending--;
    active_run_free(active);
}

struct scheduler_watch *scheduler_watch_run(struct scheduler *scheduler, const char *run,
                                            scheduler_event *event, void *arg)
{
    struct active_run *active = active_run_find(scheduler, run);
    struct scheduler_watch *watch;

    if (!active)
        return NULL;
    watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->active = active;
    watch->event = event;
    watch->arg = arg;
    watch->next = active->watches;
    active->watches = watch;
    return watch;
}
