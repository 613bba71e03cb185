/* SPDX-License-Identifier: Apache-2.0 */
/* conditions_text.h - writes the conditions in which a case ran as comment lines: the
 * binding of ranks when it changes, and notes on conditions that may affect the
 * figures */
#ifndef RINGBENCH_SERVER_RENDER_CONDITIONS_TEXT_H
#define RINGBENCH_SERVER_RENDER_CONDITIONS_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/buf.h"

struct conditions_text {
    /* binding in the current case; binding that was shown last */
    char bound[400], bound_shown[400];
    char notes[800];  /* notes on the first node that has any */
    size_t n_noted;   /* number of nodes with notes */
    size_t n_unbound; /* number of nodes with unbound ranks */
};

/* Begin another case. Its binding is shown only if it differs from the binding shown
 * last. */
void conditions_text_reset(struct conditions_text *text);

/* Read a `conditions` event. */
void conditions_text_take(struct conditions_text *text, const json_t *event);

/* Append the lines for the start of the case, once its ranks are running, or the lines
 * for its end. */
void conditions_text_begin(struct conditions_text *text, struct buf *out);
void conditions_text_end(struct conditions_text *text, struct buf *out);

#endif
