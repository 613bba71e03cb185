/* event_writer.h - the forms in which a run's events or its result rows are sent. Knows
 * no sockets: events in, bytes out. */
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

/* run: the run's document (borrowed); link: the address of its page; post: a command line
 * that posts to its address in the API, NULL for none (both copied). */
struct event_writer *event_writer_create(enum event_form form, const json_t *run,
                                         const char *link, const char *post);
void event_writer_destroy(struct event_writer *writer);

/* Show the samples of rows too; before event_writer_begin. */
void event_writer_want_samples(struct event_writer *writer);

/* The same of each rank's time, which rows in JSON leave out. */
void event_writer_want_ranks(struct event_writer *writer);

/* Say how to stop the run, unless it is over; before event_writer_begin. */
void event_writer_say_stop(struct event_writer *writer);

const char *event_form_content_type(enum event_form form);

/* Whether the form shows result rows only. */
bool event_form_is_rows(enum event_form form);

void event_writer_begin(struct event_writer *writer, struct buf *out);

/* -1 when `out` is full, or the form looks into the event and can't read it. */
int event_writer_event(struct event_writer *writer, const struct store_event *event,
                       struct buf *out);

/* All has been sent. is_over: the run has ended, so nothing will ever follow. */
void event_writer_end(struct event_writer *writer, bool is_over, struct buf *out);

/* As event_writer_end, of a page of rows: `next` begins the next one, 0 if there is none.
 */
void event_writer_end_page(struct event_writer *writer, int64_t next, struct buf *out);

/* Whether something was held back that event_writer_flush should send soon. */
bool event_writer_has_pending(const struct event_writer *writer);
void event_writer_flush(struct event_writer *writer, struct buf *out);

/* The server stops before all was sent. Whether the form has a last word for that,
 * perhaps an empty one; where it has none, its end must not look like one. */
bool event_writer_stop(struct event_writer *writer, struct buf *out);

/* Nothing was sent for a while. */
void event_writer_alive(struct event_writer *writer, int64_t now_ms, struct buf *out);

#endif
