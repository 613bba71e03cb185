/* columns.h - a list of JSON objects as a table: aligned columns for a terminal,
 * Markdown, CSV, or a line of JSON for each item */
#ifndef RINGBENCH_SERVER_RENDER_COLUMNS_H
#define RINGBENCH_SERVER_RENDER_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

/* The formats of most resources. */
enum form { FORM_JSON, FORM_TEXT, FORM_CSV, FORM_NDJSON, FORM_MARKDOWN };

enum column_form {
    COLUMN_TEXT,
    COLUMN_NUMBER,  /* aligned right, as are all below */
    COLUMN_SIZE,    /* bytes, as "256M" */
    COLUMN_PERCENT, /* of 0.123, "+12 %" */
    COLUMN_INTERVAL /* of [0.01, 0.02], "+1.0 to +2.0" */
};

struct column {
    const char *heading; /* of text and Markdown; NULL: not there */
    /* Path to the value: keys and array indexes joined by dots. NULL ends a table of at
     * most COLUMNS_MAX columns. Arrays and objects show their members. A value that is
     * missing or empty is "-" in text and Markdown, and empty in CSV. */
    const char *path;
    enum column_form form;
    const char *otherwise; /* another path, if nothing is at the first; or NULL */
    const char *name;      /* of CSV; NULL: the path, "": not there */
    unsigned parts;        /* tables that have it, as bits; 0: all */
};

#define COLUMN(head, at, ...)                                                            \
    {                                                                                    \
        .heading = (head), .path = (at), __VA_ARGS__                                     \
    }
#define COLUMNS_END                                                                      \
    {                                                                                    \
        .path = NULL                                                                     \
    }
#define COLUMNS_MAX 32

/* Layout of a table that is written in parts: zero it before the first. */
struct columns_layout {
    unsigned part; /* of struct column's parts; 0: all columns */
    bool has_headings;
    size_t widths[COLUMNS_MAX];
};

/* Append the headings, unless the layout has them already, and a line for each item, in
 * any form but FORM_JSON. Text and Markdown show cells as clean_text_show does, and cut
 * them after some 250 bytes; a table that comes in parts may get wider in text. CSV and
 * NDJSON have whole values. `out` is cut (buf.h) if the table does not fit. */
void columns_write(const struct column *columns, const json_t *items, enum form form,
                   struct columns_layout *layout, struct buf *out);

/* Append text in which Markdown's marks are escaped. */
void columns_escape(struct buf *out, const char *text);

#endif
