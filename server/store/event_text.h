/* event_text.h - a stored event as JSON text */
#ifndef RINGBENCH_SERVER_STORE_EVENT_TEXT_H
#define RINGBENCH_SERVER_STORE_EVENT_TEXT_H

#include <sqlite3.h>

#include "common/base/buf.h"

/* store_event_append of a row of (id, time_ms, body). */
int event_text_append(sqlite3_stmt *stmt, struct buf *out);

#endif
