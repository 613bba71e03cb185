/* SPDX-License-Identifier: Apache-2.0 */
/* compare_text.h - writes a comparison as text, Markdown for an issue tracker, CSV or
 * NDJSON. CSV and NDJSON contain one line for each band and size. */
#ifndef RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H
#define RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H

#include "server/render/columns.h"

/* Append the comparison that the document contains. Returns -1 if `out` is full. */
int compare_write(const json_t *document, enum form form, struct buf *out);

#endif
