/* run_watches.h - who watches the events of a run, and the latest that they were shown */
#ifndef RINGBENCH_SERVER_RUNS_RUN_WATCHES_H
#define RINGBENCH_SERVER_RUNS_RUN_WATCHES_H

#include <stdint.h>

#include "server/store/store_event.h"

struct run_watches;
struct scheduler_watch;

/* event: NULL once the run has ended. */
typedef void scheduler_event(void *arg, const struct store_event *event);

/* Also after the end; NULL is fine. */
void scheduler_unwatch(struct scheduler_watch *watch);

/* head: the id of the run's latest event. */
struct run_watches *run_watches_create(int64_t head);

/* The run is going: scheduler_unwatch frees what still watches it. */
void run_watches_destroy(struct run_watches *watches);

struct scheduler_watch *run_watches_add(struct run_watches *watches,
                                        scheduler_event *event, void *arg);

/* Show them a durable event; NULL: there are no more. */
void run_watches_tell(struct run_watches *watches, const struct store_event *event);

int64_t run_watches_head(const struct run_watches *watches);

#endif
