/* columns.h - a list of JSON objects as aligned columns, for a terminal */
#ifndef RINGBENCH_SERVER_RENDER_COLUMNS_H
#define RINGBENCH_SERVER_RENDER_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

enum column_form {
    COLUMN_TEXT,
    COLUMN_NUMBER, /* stands at the right, as does */
    COLUMN_SIZE    /* bytes, as "256M" */
};

struct column {
    const char *heading; /* NULL ends a table of at most COLUMNS_MAX */
    /* Where the value is: a key, or KEY.KEY and so on. Of arrays and objects the members
     * are shown, of objects in an array their names; nothing, or nothing in it, is "-".
     */
    const char *path;
    const char *otherwise; /* another path, if there is nothing at the first; or NULL */
    enum column_form form;
};

/* What is at such a path, borrowed; or NULL. */
json_t *columns_value(const json_t *item, const char *path);

#define COLUMNS_MAX 16

/* How wide the columns of a table are: zero it before the first items. */
struct columns_layout {
    bool has_headings; /* they are there already */
    size_t widths[COLUMNS_MAX];
};

/* Append a line of headings, unless it is there, and a line for each item. Columns are as
 * wide as the widest cell so far, so a table that comes in parts may get wider. Cells are
 * shown as clean_text_show has them, and cut after some 250 bytes. -1 when `out` is full.
 */
int columns_append(const struct column *columns, const json_t *items,
                   struct columns_layout *layout, struct buf *out);

#endif
