/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_text.h - writes a verdict as text for a user or a script */
#ifndef RINGBENCH_SERVER_RENDER_VERDICT_TEXT_H
#define RINGBENCH_SERVER_RENDER_VERDICT_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append a line "ANSWER: SENTENCE" and a table of the checks. Returns -1 if `out` is
 * full. */
int verdict_text_append(json_t *verdict, struct buf *out);

#endif
