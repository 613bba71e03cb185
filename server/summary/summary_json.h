/* SPDX-License-Identifier: Apache-2.0 */
/* summary_json.h - writes a summary as the JSON in docs/reference/api.md */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H

#include "common/base/buf.h"
#include "server/summary/summary.h"

/* Write the members from "last_event" on, without "combinations" and braces. Series and
 * figures are limited to those that changed after event `since`; 0 writes all. Returns -1
 * if memory runs out. */
int summary_json_write(const struct summary *summary, int64_t since, struct buf *out);

/* Return true if any of the series' points changed after an event. */
bool summary_series_changed(const struct summary_series *series, int64_t since);

#endif
