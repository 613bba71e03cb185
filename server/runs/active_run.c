/* SPDX-License-Identifier: Apache-2.0 */
/* active_run.c - keeps the runs that have not ended, in queue order */
#include "server/runs/active_run.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/runs/judge_queue.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"

int active_run_rank(const struct run_spec *a, const struct run_spec *b)
{
    if (a->background != b->background)
        return a->background ? -1 : 1;
    return (a->priority > b->priority) - (a->priority < b->priority);
}

static bool goes_before(const struct run *a, const struct run *b)
{
    int rank = active_run_rank(a->spec, b->spec);

    return rank != 0 ? rank > 0 : a->created_ms < b->created_ms;
}

struct run_log *active_runs_add(struct active_runs *runs, struct scheduler *scheduler,
                                const struct services *services, struct run *run,
                                int64_t head)
{
    struct active_run *active = memory_zeroed(1, sizeof(*active), "a run");
    size_t at = runs->n;

    runs->items =
        memory_grown(runs->items, at, &runs->capacity, sizeof(*runs->items), "the runs");
    while (at > 0 && goes_before(run, runs->items[at - 1]->run)) {
        runs->items[at] = runs->items[at - 1];
        at--;
    }
    runs->items[at] = active;
    runs->n++;
    active->scheduler = scheduler;
    active->log = run_log_create(services, run, head);
    active->run = run;
    return active->log;
}

/* Once all events of a run are stored, clients read the run from the store. */
struct active_run *active_runs_find(const struct active_runs *runs, const char *run)
{
    for (size_t i = 0; i < runs->n; i++)
        if (strcmp(runs->items[i]->run->id, run) == 0)
            return run_log_is_done(runs->items[i]->log) ? NULL : runs->items[i];
    return NULL;
}

static void release(struct active_run *active)
{
    run_log_destroy(active->log);
    free(active->cancel_reason);
    free(active->failed_reason);
    free(active);
}

void active_runs_note_ends(struct active_runs *runs, struct judge_queue *queue)
{
    for (size_t i = 0; i < runs->n; i++) {
        struct active_run *active = runs->items[i];

        if (run_log_is_done(active->log) && !active->is_noted)
            judge_queue_note_end(queue, active->run->id);
        active->is_noted = run_log_is_done(active->log);
    }
}

void active_runs_sweep(struct active_runs *runs)
{
    size_t n = 0;

    for (size_t i = 0; i < runs->n; i++)
        if (runs->items[i]->is_noted)
            release(runs->items[i]);
        else
            runs->items[n++] = runs->items[i];
    runs->n = n;
}

void active_runs_free(struct active_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        release(runs->items[i]);
    free(runs->items);
    free(runs);
}

bool active_run_is_over(const struct active_run *active)
{
    return active->is_judged || run_has_ended(active->run);
}
