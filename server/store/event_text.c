/* event_text.c - a stored event as JSON text */
#include "server/store/event_text.h"

#include <inttypes.h>

#include "common/clock.h"

int event_text_append(sqlite3_stmt *stmt, struct buf *out)
{
    char time[CLOCK_TEXT_MAX];
    const char *body = (const char *)sqlite3_column_text(stmt, 2);
    size_t len = (size_t)sqlite3_column_bytes(stmt, 2);

    if (!body || len < 2 || body[0] != '{')
        return -1;
    if (buf_printf(out, "{\"id\":%" PRId64 ",\"time\":\"%s\"%s",
                   (int64_t)sqlite3_column_int64(stmt, 0),
                   clock_format_ms(sqlite3_column_int64(stmt, 1), time),
                   len > 2 ? "," : "") < 0)
        return -1;
    return buf_append(out, body + 1, len - 1);
}
