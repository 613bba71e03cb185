/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - writes a list of JSON objects as a table in aligned text, Markdown or CSV,
 * or as one line of JSON per item */
#ifndef RINGBENCH_SERVER_RENDER_COLUMNS_H
#define RINGBENCH_SERVER_RENDER_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

/* Output formats that most resources of the API offer. */
enum form { FORM_JSON, FORM_TEXT, FORM_CSV, FORM_NDJSON, FORM_MARKDOWN };

enum column_form {
    COLUMN_TEXT,
    COLUMN_NUMBER,  /* aligned right, as are all forms below */
    COLUMN_SIZE,    /* bytes, as in "256M" */
    COLUMN_PERCENT, /* 0.123 becomes "+12 %" */
    COLUMN_INTERVAL /* [0.01, 0.02] becomes "+1.0 to +2.0" */
};

struct column {
    const char *heading; /* heading in text and Markdown; NULL: these omit the column */
    /* Path to the value: keys and array indexes joined by dots. NULL ends a table, which
     * has at most COLUMNS_MAX columns. Arrays and objects show their members. A missing
     * or empty value is "-" in text and Markdown, and empty in CSV. */
    const char *path;
    enum column_form form;
    const char *otherwise; /* fallback path if there is no value at `path`, or NULL */
    const char *name;      /* name in CSV; NULL: the path; "": CSV omits the column */
    unsigned parts;        /* bit mask of the tables that contain the column; 0: all */
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

/* Layout of a table that is written in parts. Zero it before the first part. */
struct columns_layout {
    /* only columns whose `parts` include this bit are written; 0: all columns */
    unsigned part;
    bool has_headings;
    size_t widths[COLUMNS_MAX];
};

/* Append the headings, unless they were already written with this layout, and a line for
 * each item. Any form but FORM_JSON is allowed. Text and Markdown show cells as in
 * clean_text_show(), truncated after about 250 bytes. Columns of a text table written in
 * parts may widen from part to part. CSV and NDJSON contain whole values. `out` is
 * truncated (buf.h) if the table does not fit. */
void columns_write(const struct column *columns, const json_t *items, enum form form,
                   struct columns_layout *layout, struct buf *out);

/* Append text with Markdown's special characters escaped. */
void columns_escape(struct buf *out, const char *text);

#endif
