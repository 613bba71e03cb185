/* run_text.h - a run as text for a person at a terminal: comment lines that say what goes
 * on, the table, one last line that says how it ended */
#ifndef RINGBENCH_SERVER_RENDER_RUN_TEXT_H
#define RINGBENCH_SERVER_RENDER_RUN_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

struct run_text;

/* run: the run's document, borrowed; link: the address of its page; post: a command line
 * that posts to its address in the API, NULL for none; both copied. */
struct run_text *run_text_create(const json_t *run, const char *link, const char *post);

/* Say how to stop the run, unless it is over; before run_text_begin. */
void run_text_say_stop(struct run_text *text);
void run_text_destroy(struct run_text *text);

/* The opening lines. */
void run_text_begin(const struct run_text *text, struct buf *out);

/* Take the next event of the run (body borrowed). */
void run_text_event(struct run_text *text, int64_t time_ms, const char *type,
                    json_t *body, struct buf *out);

/* Ranks join in bursts, so how many have joined is not said for each. Whether there is
 * such a line yet to say, and saying it. */
bool run_text_has_pending(const struct run_text *text);
void run_text_flush(struct run_text *text, struct buf *out);

/* There is no further event: of a run that has ended the last lines. */
void run_text_end(struct run_text *text, struct buf *out);

/* A comment line for a reader who has seen nothing for a while. */
void run_text_alive(struct run_text *text, int64_t now_ms, struct buf *out);

/* The last line where the server stops first. */
void run_text_stop(struct run_text *text, struct buf *out);

#endif
