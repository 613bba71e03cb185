/* run_log.h - the log of a run: the only way in which its state changes */
#ifndef RINGBENCH_SERVER_RUNS_RUN_LOG_H
#define RINGBENCH_SERVER_RUNS_RUN_LOG_H

#include <jansson.h>
#include <stdint.h>

#include "server/runs/run.h"
#include "server/store/store_event.h"

struct active_run;
struct store_write;

/* Fold an event (body stolen) into the run, make it durable, then show it to watchers and
 * call `then` (may be NULL) with the case that it is of.
 *
 * The one rule of all events, those of agents too: the model takes an event when it goes
 * into the queue to the disk, and the queue is written in its order. So the model is what
 * the log will say, in any interleaving, and a crash loses no more than what nobody was
 * shown or told was stored. */
typedef void run_log_then(struct active_run *active, int case_no);
void run_log_append(struct active_run *active, const char *type, json_t *body,
                    run_log_then *then);

/* Fold an event (body borrowed) and put it into a write that is submitted next. */
void run_log_add(struct active_run *active, struct store_write *write, int64_t time_ms,
                 const char *type, const json_t *body);

/* Show a durable event to watchers. */
void run_log_publish(struct active_run *active, const struct store_event *event);

/* Write the run's row, for lists: with its cases once it has ended. */
void run_log_write_row(struct store_write *write, const struct run *run);

/* ---- The server's own events ---- */

void run_log_state(struct active_run *active, enum run_state state, const char *reason);
void run_log_case(struct active_run *active, size_t index, int attempt,
                  enum case_state state, const char *reason, run_log_then *then);

/* How it ended. Of a failure that names somebody the reason is the sentence of that. */
struct case_end {
    enum case_state state;
    const char *reason; /* or NULL */
    json_t *blamed;     /* blame.h; or NULL */
    json_t *transports; /* case_transport.h; or NULL */
};
void run_log_case_end(struct active_run *active, size_t index, int attempt,
                      const struct case_end *end);

/* With how long the run has been under way, for the server that takes it up. */
void run_log_message(struct active_run *active, const char *level, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

#endif
