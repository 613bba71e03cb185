/* summary_json.h - a summary as the JSON of docs/reference/api.md */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H

#include "common/base/buf.h"
#include "server/summary/summary.h"

/* The members from "last_event" on but for "combinations", without braces; of series and
 * figures what has changed since an event, 0: all. -1 when memory is out. */
int summary_json_write(const struct summary *summary, int64_t since, struct buf *out);

/* Whether any of its points has changed since an event. */
bool summary_series_changed(const struct summary_series *series, int64_t since);

#endif
