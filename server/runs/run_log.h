/* SPDX-License-Identifier: Apache-2.0 */
/* run_log.h - the log of a run: the only way in which its state changes */
#ifndef RINGBENCH_SERVER_RUNS_RUN_LOG_H
#define RINGBENCH_SERVER_RUNS_RUN_LOG_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/error.h"
#include "server/runs/run.h"
#include "server/store/store_event.h"

struct run_log;
struct scheduler_watch;
struct services;
struct store_write;

/* The log of a run (taken). head: the id of its latest event. */
struct run_log *run_log_create(const struct services *services, struct run *run,
                               int64_t head);

/* Frees the run as well; who watches it yet is told nothing more. */
void run_log_destroy(struct run_log *log);

/* What its events so far add up to. */
const struct run *run_log_run(const struct run_log *log);

/* The run has ended, all of its events are durable, and watchers were told the end. */
bool run_log_is_done(const struct run_log *log);

/* ---- Events ---- */

/* Fold an event (body stolen) into the run, make it durable, then show it to watchers,
 * and have a tick.
 *
 * The one rule of all events, those of agents too: the model takes an event when it goes
 * into the queue to the disk, and the queue is written in its order. So the model is what
 * the log will say, in any interleaving, and a crash loses no more than what nobody was
 * shown or told was stored. */
void run_log_append(struct run_log *log, const char *type, json_t *body);

/* Fold an event (body borrowed) and put it into a write that is submitted next. */
void run_log_add(struct run_log *log, struct store_write *write, int64_t time_ms,
                 const char *type, const json_t *body);

/* Show an event that was added to watchers, now that it is durable. */
void run_log_publish(struct run_log *log, const struct store_event *event);

/* One could not be stored, as when another program has removed the run. */
void run_log_drop(struct run_log *log, const struct error *err);

/* Write the run's row, for lists: with its cases once it has ended. */
void run_log_write_row(struct store_write *write, const struct run *run);

/* event: NULL once the run has ended. */
typedef void scheduler_event(void *arg, const struct store_event *event);

/* Call `event` as scheduler_watch_run says. NULL: the log is done. */
struct scheduler_watch *run_log_watch(struct run_log *log, scheduler_event *event,
                                      void *arg);

/* Also after the end; NULL is fine. */
void scheduler_unwatch(struct scheduler_watch *watch);

/* The id of the latest event that watchers were shown. */
int64_t run_log_head(const struct run_log *log);

/* ---- The run's time ---- */

/* The run is under way, and has been for so long. */
void run_log_begin(struct run_log *log, int64_t ran_ns);
bool run_log_has_begun(const struct run_log *log);

/* How long, by the clock that nobody sets; 0: it has not begun. */
int64_t run_log_ran_ns(const struct run_log *log);

/* ---- The server's own events ---- */

void run_log_state(struct run_log *log, enum run_state state, const char *reason);
void run_log_case(struct run_log *log, size_t index, int attempt, enum case_state state,
                  const char *reason);

/* That a case starts; `then` once that is durable. */
typedef void run_log_then(void *arg, struct run_log *log, size_t index);
void run_log_case_start(struct run_log *log, size_t index, int attempt,
                        run_log_then *then, void *arg);

/* How it ended. Of a failure that names somebody the reason is the sentence of that. */
struct case_end {
    enum case_state state;
    const char *reason; /* or NULL */
    json_t *blamed;     /* blame.h; or NULL */
    json_t *transports; /* case_transport.h; or NULL */
};
void run_log_case_end(struct run_log *log, size_t index, int attempt,
                      const struct case_end *end);

/* With how long the run has been under way, for the server that takes it up. */
void run_log_message(struct run_log *log, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
