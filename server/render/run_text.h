/* SPDX-License-Identifier: Apache-2.0 */
/* run_text.h - writes a run as text for a terminal: comment lines about its progress, the
 * table, and a last line with the outcome */
#ifndef RINGBENCH_SERVER_RENDER_RUN_TEXT_H
#define RINGBENCH_SERVER_RENDER_RUN_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

struct run_text;

/* run: the run's document (borrowed). link: URL of the run's page. post: command line
 * that sends a POST to the run's URL in the API, or NULL. link and post are copied. */
struct run_text *run_text_create(const json_t *run, const char *link, const char *post);

/* Show the command that stops the run, unless the run has ended. Call before
 * run_text_begin(). */
void run_text_say_stop(struct run_text *text);
void run_text_destroy(struct run_text *text);

/* Append the opening lines. */
void run_text_begin(const struct run_text *text, struct buf *out);

/* Append the lines for the run's next event. The body is borrowed. */
void run_text_event(struct run_text *text, int64_t time_ms, const char *type,
                    json_t *body, struct buf *out);

/* Ranks join in bursts, so not every join gets a separate line. run_text_has_pending()
 * returns true if some joins were not reported yet. run_text_flush() appends a line that
 * reports them. */
bool run_text_has_pending(const struct run_text *text);
void run_text_flush(struct run_text *text, struct buf *out);

/* Finish after the last event; append the last lines of a run that has ended. */
void run_text_end(struct run_text *text, struct buf *out);

/* Append a comment line after a period without output. */
void run_text_alive(struct run_text *text, int64_t now_ms, struct buf *out);

/* Finish early because the server is stopping. */
void run_text_stop(struct run_text *text, struct buf *out);

#endif
