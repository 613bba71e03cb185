/* run_watches.c - who watches the events of a run */
#include "server/runs/run_watches.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/memory.h"

struct run_watches {
    int64_t head;
    struct scheduler_watch *first;
};

struct scheduler_watch {
    struct run_watches *of; /* NULL once these have gone */
    struct scheduler_watch *next;
    scheduler_event *event;
    void *arg;
    bool is_dead; /* unwatched while its list is walked */
    int calls;    /* its callback is running */
};

struct run_watches *run_watches_create(int64_t head)
{
    struct run_watches *watches = memory_zeroed(1, sizeof(*watches), "a run's watchers");

    watches->head = head;
    return watches;
}

void run_watches_destroy(struct run_watches *watches)
{
    while (watches->first) {
        struct scheduler_watch *watch = watches->first;

        watches->first = watch->next;
        watch->of = NULL;
        if (watch->is_dead)
            free(watch);
    }
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

    *watch = (struct scheduler_watch){
        .of = watches, .next = watches->first, .event = event, .arg = arg};
    watches->first = watch;
    return watch;
}

static void sweep(struct run_watches *watches)
{
    struct scheduler_watch **link = &watches->first;

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

void run_watches_tell(struct run_watches *watches, const struct store_event *event)
{
    if (event)
        watches->head = event->id;
    for (struct scheduler_watch *watch = watches->first; watch; watch = watch->next) {
        if (watch->is_dead)
            continue;
        watch->calls++;
        watch->event(watch->arg, event);
        watch->calls--;
    }
    sweep(watches);
}

void scheduler_unwatch(struct scheduler_watch *watch)
{
    if (!watch)
        return;
    if (!watch->of) {
        free(watch);
        return;
    }
    watch->is_dead = true;
    if (watch->calls == 0)
        sweep(watch->of);
}
