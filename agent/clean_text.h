/* clean_text.h - make any bytes fit for a JSON string */
#ifndef RINGBENCH_AGENT_CLEAN_TEXT_H
#define RINGBENCH_AGENT_CLEAN_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "common/buf.h"

/* Append data with U+FFFD in place of NUL and of each byte that is not part of a valid
 * UTF-8 sequence. -1 when the buffer is full. */
int clean_text_append(struct buf *out, const char *data, size_t len);

/* A new JSON string of data, cleaned likewise; NULL when memory is out. */
json_t *clean_text_json(const char *data, size_t len);

#endif
