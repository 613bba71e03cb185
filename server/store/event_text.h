/* event_text.h - a stored event as JSON text */
#ifndef RINGBENCH_SERVER_STORE_EVENT_TEXT_H
#define RINGBENCH_SERVER_STORE_EVENT_TEXT_H

#include <sqlite3.h>

#include "common/buf.h"

/* Append the event of a row of (id, time_ms, body), with "id" and "time" spliced in
 * before the body's own keys. -1 when the body is no object or memory is out. */
int event_text_append(sqlite3_stmt *stmt, struct buf *out);

#endif
