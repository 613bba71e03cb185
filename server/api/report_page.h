/* SPDX-License-Identifier: Apache-2.0 */
/* report_page.h - the page that a report is: web/report.html as the build made one file
 * of it, with slots for what differs from run to run. Any thread. */
#ifndef RINGBENCH_SERVER_API_REPORT_PAGE_H
#define RINGBENCH_SERVER_API_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

/* Whether this program was built with the page: not with RINGBENCH_UI=OFF. */
bool report_page_exists(void);

/* The page's content security policy as the page itself states it: what it is made of, by
 * hash. Not terminated: *len bytes. */
const char *report_page_policy(size_t *len);

/* Append the page. title and text: plain text; data: JSON. -1 when `out` is full or
 * memory is out. */
int report_page_fill(struct buf *out, const char *title, const struct buf *text,
                     const struct buf *data);

/* Append JSON so that it can stand in a script element, where nothing but "</" ends it:
 * "<" as \u003c, which in JSON stands within strings only. */
int report_page_put_json(struct buf *out, const char *json, size_t len);

#endif
