/* SPDX-License-Identifier: Apache-2.0 */
/* report_page.h - fills the page of a report, web/report.html bundled into one file, with
 * the run's data. All functions may be called on any thread. */
#ifndef RINGBENCH_SERVER_API_REPORT_PAGE_H
#define RINGBENCH_SERVER_API_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

/* Return true if the program was built with the page. A build with RINGBENCH_UI=OFF lacks
 * the page. */
bool report_page_exists(void);

/* Return the page's content security policy, which allows the page's own scripts and
 * styles by hash. The text has *len bytes and is not NUL-terminated. */
const char *report_page_policy(size_t *len);

/* Append the page. title and text are plain text, data is JSON. Return -1 when `out` is
 * full. */
int report_page_fill(struct buf *out, const char *title, const struct buf *text,
                     const struct buf *data);

/* Append JSON for use in a script element. Only "</" could end the element, so "<" is
 * written as \u003c; JSON contains "<" only in strings. */
int report_page_put_json(struct buf *out, const char *json, size_t len);

#endif
