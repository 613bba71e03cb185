/* trend_text.h - a page of a trend (docs/api.md) for a terminal and for a spreadsheet */
#ifndef RINGBENCH_SERVER_RENDER_TREND_TEXT_H
#define RINGBENCH_SERVER_RENDER_TREND_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* What the figure is and did as comment lines, then a line for each run. answer: the
 * JSON of the page, borrowed. -1 when `out` is full. */
int trend_text_write(const json_t *answer, struct buf *out);

/* RFC 4180, a header line first. */
int trend_csv_write(const json_t *answer, struct buf *out);

#endif
