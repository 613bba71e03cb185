/* compare_text.h - a comparison (docs/api.md, "Compare") for a terminal, for an issue
 * tracker, for a spreadsheet */
#ifndef RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H
#define RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* Each appends the whole document; -1 when `out` is full or memory is out. The sentence
 * comes first in text and Markdown; CSV has a line per band and per size. */
int compare_text(const json_t *document, struct buf *out);
int compare_markdown(const json_t *document, struct buf *out);
int compare_csv(const json_t *document, struct buf *out);

#endif
