/* SPDX-License-Identifier: Apache-2.0 */
/* run_log.h - logs a run's events, the only means to change its state */
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

/* Create the log of a run and take ownership of the run. head: the ID of the run's latest
 * event. */
struct run_log *run_log_create(const struct services *services, struct run *run,
                               int64_t head);

/* Free the log and its run; remaining watchers are not notified. */
void run_log_destroy(struct run_log *log);

/* Return the run as built from its events so far. */
const struct run *run_log_run(const struct run_log *log);

/* Return true if the run has ended, all its events are durable, and watchers were
 * notified of the end. */
bool run_log_is_done(const struct run_log *log);

/* ---- Events ---- */

/* Apply an event (takes ownership of body) to the run, make it durable, publish it to
 * watchers and request a tick. All events, including those from agents, follow one rule:
 * the model applies an event when the event enters the write queue, and the queue is
 * written in order. The model therefore equals the log after all queued writes. A crash
 * loses only events that were neither published nor acknowledged. */
void run_log_append(struct run_log *log, const char *type, json_t *body);

/* Apply an event (body borrowed) to the run and add the event to `write`. This write must
 * be the next one submitted. */
void run_log_add(struct run_log *log, struct store_write *write, int64_t time_ms,
                 const char *type, const json_t *body);

/* Publish an added event to watchers, now that it is durable. */
void run_log_publish(struct run_log *log, const struct store_event *event);

/* Handle an event that could not be stored, e.g. because another program has deleted the
 * run. */
void run_log_drop(struct run_log *log, const struct error *err);

/* Write the run's row for lists; the row includes the cases once the run has ended. */
void run_log_write_row(struct store_write *write, const struct run *run);

/* event: NULL once the run has ended. */
typedef void scheduler_event(void *arg, const struct store_event *event);

/* Call `event` for later events, as described for scheduler_watch_run(). Returns NULL if
 * the log is done. */
struct scheduler_watch *run_log_watch(struct run_log *log, scheduler_event *event,
                                      void *arg);

/* Stop watching, even after the run's end. NULL is fine. */
void scheduler_unwatch(struct scheduler_watch *watch);

/* Return the ID of the latest event published to watchers. */
int64_t run_log_head(const struct run_log *log);

/* ---- The run's time ---- */

/* Mark the run as under way. ran_ns: how long the run was under way before a server
 * restart. */
void run_log_begin(struct run_log *log, int64_t ran_ns);
bool run_log_has_begun(const struct run_log *log);

/* Return how long the run has been under way, measured with the monotonic clock; 0 if it
 * has not begun. */
int64_t run_log_ran_ns(const struct run_log *log);

/* ---- The server's own events ---- */

void run_log_state(struct run_log *log, enum run_state state, const char *reason);
void run_log_case(struct run_log *log, size_t index, int attempt, enum case_state state,
                  const char *reason);

/* Log the start of a case; `then` runs once the event is durable. */
typedef void run_log_then(void *arg, struct run_log *log, size_t index);
void run_log_case_start(struct run_log *log, size_t index, int attempt,
                        run_log_then *then, void *arg);

/* The end of a case. If `blamed` is set, its sentence becomes the reason. */
struct case_end {
    enum case_state state;
    const char *reason; /* reason for the end, or NULL */
    json_t *blamed;     /* see blame.h; or NULL */
    json_t *transports; /* see case_transport.h; or NULL */
};
void run_log_case_end(struct run_log *log, size_t index, int attempt,
                      const struct case_end *end);

/* Log a message with the run time so far, which the server needs after a restart. */
void run_log_message(struct run_log *log, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
