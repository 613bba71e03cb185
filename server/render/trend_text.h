/* trend_text.h - a page of a trend in each form */
#ifndef RINGBENCH_SERVER_RENDER_TREND_TEXT_H
#define RINGBENCH_SERVER_RENDER_TREND_TEXT_H

#include "server/render/columns.h"

/* Append the page, whose JSON is the answer. Text begins with the figure and its verdicts
 * as comment lines. -1 when `out` is full. */
int trend_write(const json_t *answer, enum form form, struct buf *out);

#endif
