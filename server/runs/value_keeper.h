/* value_keeper.h - makes the values of runs that have ended (store_trends.h), one run at
 * a time: of each as it ends, and in the background of those that an older server or a
 * crash left without, the newest first. What takes long happens on other threads. */
#ifndef RINGBENCH_SERVER_RUNS_VALUE_KEEPER_H
#define RINGBENCH_SERVER_RUNS_VALUE_KEEPER_H

#include <uv.h>

#include "server/store/store.h"

struct value_keeper;

/* Begins with what is due. loop and store are borrowed; the store's ends of runs are its.
 * NULL when memory is out. */
struct value_keeper *value_keeper_create(uv_loop_t *loop, struct store *store);

/* Stop, before the store is closed; it frees itself once nothing is under way. Those who
 * wait hear ERROR_UNAVAILABLE. NULL is fine. */
void value_keeper_close(struct value_keeper *keeper);

/* Call `ready` when the run's values are there, if it has ended and has any, and so are
 * those of all runs that have ended before this call since the keeper was created. err:
 * this run's values could not be made. */
typedef void value_keeper_ready(void *arg, const struct error *err);
void value_keeper_ensure(struct value_keeper *keeper, const char *run,
                         value_keeper_ready *ready, void *arg);

#endif
