/* conditions_text.h - under which conditions a case ran, as comment lines: what ranks are
 * bound to when that is news, and what may have changed the figures */
#ifndef RINGBENCH_SERVER_RENDER_CONDITIONS_TEXT_H
#define RINGBENCH_SERVER_RENDER_CONDITIONS_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/buf.h"

struct conditions_text {
    char bound[400], bound_shown[400]; /* of this case; the last that was said */
    char notes[800];                   /* of the first node that has any */
    size_t n_noted;                    /* nodes that have some */
    size_t n_unbound;                  /* nodes whose ranks are not bound */
};

/* Another case begins: what it is bound to is said only if it is not as before. */
void conditions_text_reset(struct conditions_text *text);

/* Take an event `conditions`. */
void conditions_text_take(struct conditions_text *text, const json_t *event);

/* The ranks run; and all have ended. */
void conditions_text_begin(struct conditions_text *text, struct buf *out);
void conditions_text_end(struct conditions_text *text, struct buf *out);

#endif
