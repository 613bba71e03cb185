/* event_text.c - a stored event as JSON text */
#include "server/store/event_text.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "server/store/store.h"

int store_event_append(const struct store_event *event, struct buf *out)
{
    char time[CLOCK_TEXT_MAX];

    if (!event->body || event->body_len < 2 || event->body[0] != '{')
        return -1;
    if (buf_printf(out, "{\"id\":%" PRId64 ",\"time\":\"%s\"%s", event->id,
                   clock_format_ms(event->time_ms, time),
                   event->body_len > 2 ? "," : "") < 0)
        return -1;
    return buf_append(out, event->body + 1, event->body_len - 1);
}

int event_text_append(sqlite3_stmt *stmt, struct buf *out)
{
    const struct store_event event = {
        .id = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .body = (const char *)sqlite3_column_text(stmt, 2),
        .body_len = (size_t)sqlite3_column_bytes(stmt, 2),
    };

    return store_event_append(&event, out);
}
