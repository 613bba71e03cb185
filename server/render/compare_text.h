/* compare_text.h - a comparison in each form: for a terminal, an issue tracker
 * (Markdown), a spreadsheet (CSV, a line for each band and size) */
#ifndef RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H
#define RINGBENCH_SERVER_RENDER_COMPARE_TEXT_H

#include "server/render/columns.h"

/* Append the document of a comparison. -1 when `out` is full. */
int compare_write(const json_t *document, enum form form, struct buf *out);

#endif
