/* SPDX-License-Identifier: Apache-2.0 */
/* event_writer.h - output formats for a run's events or its result rows. Takes events and
 * appends bytes; independent of sockets. */
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

/* run: the run's document (borrowed). link: URL of its page. post: command line that
 * posts to its URL in the API, or NULL. Both texts are copied. */
struct event_writer *event_writer_create(enum event_form form, const json_t *run,
                                         const char *link, const char *post);
void event_writer_destroy(struct event_writer *writer);

/* Include the samples of rows. Call before event_writer_begin(). */
void event_writer_want_samples(struct event_writer *writer);

/* Include each rank's time, which rows in JSON omit by default. */
void event_writer_want_ranks(struct event_writer *writer);

/* Show how to stop the run, unless it has ended. Call before event_writer_begin(). */
void event_writer_say_stop(struct event_writer *writer);

const char *event_form_content_type(enum event_form form);

/* Return whether the form shows only result rows. */
bool event_form_is_rows(enum event_form form);

void event_writer_begin(struct event_writer *writer, struct buf *out);

/* Returns -1 if `out` is full, or if the form must parse the event's body and cannot. */
int event_writer_event(struct event_writer *writer, const struct store_event *event,
                       struct buf *out);

/* Finish after the last event. is_over: the run has ended and no event can follow. */
void event_writer_end(struct event_writer *writer, bool is_over, struct buf *out);

/* Finish a page of rows. `next` is the start of the next page, or 0 for the last page. */
void event_writer_end_page(struct event_writer *writer, int64_t next, struct buf *out);

/* Return whether event_writer_flush() has held-back output to send soon. */
bool event_writer_has_pending(const struct event_writer *writer);
void event_writer_flush(struct event_writer *writer, struct buf *out);

/* Finish early because the server is stopping. Return whether the form can mark this
 * case, perhaps with empty output. If it cannot, the stream must not end as if it were
 * complete. */
bool event_writer_stop(struct event_writer *writer, struct buf *out);

/* Append a sign of life after a period without output. */
void event_writer_alive(struct event_writer *writer, int64_t now_ms, struct buf *out);

#endif
