/* store_read.c - a question to the database, and its answer */
#include "server/store/store_read.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 30) /* SQLite's own limit of a value */

struct store_read *store_read_create(enum store_read_kind kind)
{
    struct store_read *read = calloc(1, sizeof(*read));

    if (read) {
        read->kind = kind;
        buf_init(&read->text, TEXT_MAX);
    }
    return read;
}

void store_read_destroy(struct store_read *read)
{
    if (!read)
        return;
    free(read->run);
    free(read->type);
    free(read->before_id);
    free(read->metric);
    free(read->cases);
    summary_destroy(read->summary);
    json_decref(read->result);
    store_events_destroy(read->events);
    json_decref(read->params);
    buf_release(&read->text);
    free(read);
}

void store_read_fail(struct store_read *read, enum error_code code, const char *text)
{
    if (read->is_failed)
        return;
    read->is_failed = true;
    error_set(&read->err, code, "%s", text);
}

size_t store_read_bytes(const struct store_read *read)
{
    return read->text.len + (read->events ? read->events->bytes : 0);
}

char *store_read_copy(struct store_read *read, const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
    return copy;
}

void store_read_begin(struct store_read *read, const char *cursor)
{
    char id[STORE_CURSOR_ID_MAX + 1] = "";

    read->before_ms = INT64_MAX;
    if (cursor && store_cursor_parse(cursor, &read->before_ms, id) < 0)
        store_read_fail(read, ERROR_INVALID, "the cursor is not one of this server");
    read->before_id = store_read_copy(read, id);
}

bool store_read_ends_page(struct store_read *read)
{
    char cursor[STORE_CURSOR_TEXT_MAX];

    if (read->limit < 0 || ++read->count <= (size_t)read->limit)
        return false;
    if (store_cursor_format(read->page_ms, read->page_id, cursor) < 0 ||
        json_object_set_new(read->result, "next", json_string(cursor)) < 0)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
    return true;
}
