/* event_row.c - an event out of the database */
#include "server/store/event_row.h"

int event_row_read(sqlite3_stmt *stmt, struct store_event *event, struct error *err)
{
    *event = (struct store_event){
        .id = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .type = (const char *)sqlite3_column_text(stmt, 2),
        .body = (const char *)sqlite3_column_text(stmt, 3),
        .body_len = (size_t)sqlite3_column_bytes(stmt, 3),
        .samples = (const char *)sqlite3_column_text(stmt, 4),
        .samples_len = (size_t)sqlite3_column_bytes(stmt, 4),
    };
    if (!event->type || !event->body || event->body_len < 2 || event->body[0] != '{')
        return error_set(err, ERROR_INTERNAL, "a stored event cannot be read");
    return 0;
}
