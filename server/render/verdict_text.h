/* verdict_text.h - a verdict as text for a person or a script at a terminal */
#ifndef RINGBENCH_SERVER_RENDER_VERDICT_TEXT_H
#define RINGBENCH_SERVER_RENDER_VERDICT_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append a line "ANSWER: SENTENCE", and a table of the checks. -1 when `out` is full. */
int verdict_text_append(json_t *verdict, struct buf *out);

#endif
