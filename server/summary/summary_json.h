/* summary_json.h - a summary as the JSON of docs/api.md */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_JSON_H

#include "common/base/buf.h"
#include "server/summary/summary.h"

/* The members from "last_event" on but for "combinations", without braces. -1 when memory
 * is out. */
int summary_json_write(const struct summary *summary, struct buf *out);

#endif
