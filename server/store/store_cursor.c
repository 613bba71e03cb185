/* store_cursor.c - where the next page of a list begins, as text: TIME:ID */
#include "server/store/store_cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int store_cursor_format(int64_t created_ms, const char *id,
                        char text[STORE_CURSOR_TEXT_MAX])
{
    if (strlen(id) > STORE_CURSOR_ID_MAX)
        return -1;
    snprintf(text, STORE_CURSOR_TEXT_MAX, "%" PRId64 ":%s", created_ms, id);
    return 0;
}

int store_cursor_parse(const char *text, int64_t *created_ms, char *id)
{
    char *end;
    int64_t created;

    errno = 0;
    created = strtoll(text, &end, 10);
    if (errno || end == text || *end != ':' || strlen(end + 1) > STORE_CURSOR_ID_MAX)
        return -1;
    *created_ms = created;
    memcpy(id, end + 1, strlen(end + 1) + 1);
    return 0;
}
