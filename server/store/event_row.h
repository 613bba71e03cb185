/* event_row.h - an event out of the database */
#ifndef RINGBENCH_SERVER_STORE_EVENT_ROW_H
#define RINGBENCH_SERVER_STORE_EVENT_ROW_H

#include <sqlite3.h>

#include "common/base/error.h"
#include "server/store/store_event.h"

/* What a statement selects that asks for events. A disowned one was a result, and is one
 * in the log. */
#define EVENT_ROW "id, time_ms, iif(type = 'disowned', 'result', type), body, samples"

/* The event of a row of EVENT_ROW; its texts are the statement's, until that is stepped.
 * ERROR_INTERNAL when its body is none. */
int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err);

#endif
