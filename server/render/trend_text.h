/* SPDX-License-Identifier: Apache-2.0 */
/* trend_text.h - writes one page of a trend in the requested output format */
#ifndef RINGBENCH_SERVER_RENDER_TREND_TEXT_H
#define RINGBENCH_SERVER_RENDER_TREND_TEXT_H

#include "server/render/columns.h"

/* Append one page of a trend. In the text format, the figure and its verdicts come first,
 * as comment lines. Returns -1 if `out` is full. */
int trend_write(const json_t *answer, enum form form, struct buf *out);

#endif
