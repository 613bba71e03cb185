/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - result rows as RFC 4180 CSV: a header line, CRLF, quotes where needed */
#ifndef RINGBENCH_SERVER_RENDER_CSV_H
#define RINGBENCH_SERVER_RENDER_CSV_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

/* Columns of a run, from common/result/row_fields.h: those of rows, or of a program's
 * figures. The case's repeat and a column for each matrix variable follow. */
struct csv {
    bool has_rows, has_figures;
    bool has_samples; /* include the KEPT_APART columns; false after csv_init() */
    json_t *matrix;   /* object keyed by variable name, or NULL */
    json_t *cases;    /* array of {"repeat","env"}, or NULL */
};

/* Initialize for a run's document. */
void csv_init(struct csv *csv, const json_t *run);
void csv_release(struct csv *csv);

void csv_header(const struct csv *csv, struct buf *out);

/* Append a row or figure of docs/development/worker-contract.md with "case". Absent and
 * null members and unset variables are empty; a variable set to nothing is "". The list
 * of wrong elements is omitted. */
void csv_row(const struct csv *csv, const json_t *row, struct buf *out);

/* Append one field. It is quoted if it has a comma, a quote or a line break, and prefixed
 * with an apostrophe if a spreadsheet would read it as a formula. */
void csv_field(const char *text, struct buf *out);

/* Append a value as one field. Null is empty; an array's members are joined by
 * semicolons, an object's as NAME=VALUE. */
void csv_value(const json_t *value, struct buf *out);

#endif
