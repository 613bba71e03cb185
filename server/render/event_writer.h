/* SPDX-License-Identifier: Apache-2.0 */
/* event_writer.h - writes a run's events or result rows in each output format. The
 * functions append bytes to a buffer and do not use sockets. */
#ifndef RINGBENCH_SERVER_RENDER_EVENT_WRITER_H
#define RINGBENCH_SERVER_RENDER_EVENT_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "server/store/store_event.h"

enum event_form {
    EVENT_FORM_SSE,
    EVENT_FORM_NDJSON,
    EVENT_FORM_TEXT,
    ROWS_FORM_JSON,
    ROWS_FORM_NDJSON,
    ROWS_FORM_CSV,
    ROWS_FORM_TEXT,
    EVENT_FORM_COUNT
};

struct event_writer;

/* run: the run's document (borrowed). link: URL of the run's page. post: command line
 * that sends a POST to the run's URL in the API, or NULL. link and post are copied. */
struct event_writer *event_writer_create(enum event_form form, const json_t *run,
                                         const char *link, const char *post);
void event_writer_destroy(struct event_writer *writer);

/* Include the samples of rows. Call before event_writer_begin(). */
void event_writer_want_samples(struct event_writer *writer);

/* Include the time of each rank. Rows in JSON omit these times by default. */
void event_writer_want_ranks(struct event_writer *writer);

/* Show the command that stops the run, unless the run has ended. Call before
 * event_writer_begin(). */
void event_writer_say_stop(struct event_writer *writer);

const char *event_form_content_type(enum event_form form);

/* Return true if the form shows only result rows. */
bool event_form_is_rows(enum event_form form);

void event_writer_begin(struct event_writer *writer, struct buf *out);

/* Append an event. Returns -1 if `out` is full, or if the event's body must be parsed and
 * is invalid. */
int event_writer_event(struct event_writer *writer, const struct store_event *event,
                       struct buf *out);

/* Finish after the last event. is_over: the run has ended and no event can follow. */
void event_writer_end(struct event_writer *writer, bool is_over, struct buf *out);

/* Finish a page of rows. `next` is the start of the next page, or 0 for the last page. */
void event_writer_end_page(struct event_writer *writer, int64_t next, struct buf *out);

/* Return true if event_writer_flush() has output that should be sent soon. */
bool event_writer_has_pending(const struct event_writer *writer);
void event_writer_flush(struct event_writer *writer, struct buf *out);

/* Finish early because the server is stopping. Returns true if the format can indicate an
 * early end, even if this appends nothing. If false, the stream must not end as if it
 * were complete. */
bool event_writer_stop(struct event_writer *writer, struct buf *out);

/* Append a keep-alive line after a period without output. */
void event_writer_alive(struct event_writer *writer, int64_t now_ms, struct buf *out);

#endif
