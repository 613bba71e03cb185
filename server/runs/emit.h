/* emit.h - the scheduler's own events: applied, written, then shown */
#ifndef RINGBENCH_SERVER_RUNS_EMIT_H
#define RINGBENCH_SERVER_RUNS_EMIT_H

#include <jansson.h>
#include <stddef.h>

#include "server/runs/run.h"

struct active_run;
struct store_write;

/* Let the run's model take an event (body stolen), write it, and when it is durable show
 * it to watchers and call `then` (may be NULL) with the case that it is of.
 *
 * The one rule of all events, those of agents too: the model takes an event when it goes
 * into the queue to the disk, and the queue is written in its order. So the model is what
 * the log will say, in any interleaving, and a crash loses no more than what nobody was
 * shown or told was stored. */
typedef void emitted(struct active_run *active, int case_no);
void emit(struct active_run *active, const char *type, json_t *body, emitted *then);

/* Write the run's row: with its cases once it has ended. -1 when the write is spoilt. */
int emit_run(struct store_write *write, const struct run *run);

void emit_state(struct active_run *active, enum run_state state, const char *reason);
void emit_case(struct active_run *active, size_t index, int attempt,
               enum case_state state, const char *reason, emitted *then);

/* How it ended. Of a failure that names somebody the reason is the sentence of that. */
struct case_end {
    enum case_state state;
    const char *reason; /* or NULL */
    json_t *blamed;     /* blame.h; or NULL */
    json_t *transports; /* case_transport.h; or NULL */
};
void emit_case_end(struct active_run *active, size_t index, int attempt,
                   const struct case_end *end);

/* With how long the run has been under way, for the server that takes it up. */
void emit_message(struct active_run *active, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
