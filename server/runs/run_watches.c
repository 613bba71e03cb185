/* run_watches.c - who watches the events of a run */
#include "server/runs/run_watches.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "common/base/memory.h"

struct run_watches {
    int64_t head;
    LIST_HEAD(, scheduler_watch) list;
    struct scheduler_watch *next; /* to be told, while they are told */
};

struct scheduler_watch {
    LIST_ENTRY(scheduler_watch) entry;
    struct run_watches *of; /* NULL once these have gone */
    scheduler_event *event;
    void *arg;
};

struct run_watches *run_watches_create(int64_t head)
{
    struct run_watches *watches = memory_zeroed(1, sizeof(*watches), "a run's watchers");

    watches->head = head;
    LIST_INIT(&watches->list);
    return watches;
}

void run_watches_destroy(struct run_watches *watches)
{
    struct scheduler_watch *watch;

    LIST_FOREACH (watch, &watches->list, entry)
        watch->of = NULL;
    free(watches);
}

int64_t run_watches_head(const struct run_watches *watches)
{
    return watches->head;
}

struct scheduler_watch *run_watches_add(struct run_watches *watches,
                                        scheduler_event *event, void *arg)
{
    struct scheduler_watch *watch = memory_zeroed(1, sizeof(*watch), "a run's watcher");

    watch->of = watches;
    watch->event = event;
    watch->arg = arg;
    LIST_INSERT_HEAD(&watches->list, watch, entry);
    return watch;
}

/* Any of them may be removed by the one that is told. */
void run_watches_tell(struct run_watches *watches, const struct store_event *event)
{
    struct scheduler_watch *watch;

    if (event)
        watches->head = event->id;
    for (watch = LIST_FIRST(&watches->list); watch; watch = watches->next) {
        watches->next = LIST_NEXT(watch, entry);
        watch->event(watch->arg, event);
    }
}

void scheduler_unwatch(struct scheduler_watch *watch)
{
    if (watch && watch->of) {
        if (watch->of->next == watch)
            watch->of->next = LIST_NEXT(watch, entry);
        LIST_REMOVE(watch, entry);
    }
    free(watch);
}
