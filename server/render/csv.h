/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - writes result rows as RFC 4180 CSV: a header line, CRLF line ends, and quotes
 * where needed */
#ifndef RINGBENCH_SERVER_RENDER_CSV_H
#define RINGBENCH_SERVER_RENDER_CSV_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

/* The columns for a run, from common/result/row_fields.h: those of rows, or those of a
 * program's figures. They are followed by columns for the case's repeat and for each
 * matrix variable. */
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

/* Append a row or figure (docs/development/worker-contract.md, with "case"). Fields of
 * absent or null members and of unset variables are empty. A variable with an empty value
 * is written as "". The list of wrong elements is omitted. */
void csv_row(const struct csv *csv, const json_t *row, struct buf *out);

/* Append one field. It is quoted if it contains a comma, a quote or a line break. An
 * apostrophe precedes a text that a spreadsheet would evaluate as a formula. */
void csv_field(const char *text, struct buf *out);

/* Append a value as one field. Null is empty. An array's members are joined by
 * semicolons. An object's members are written as NAME=VALUE. */
void csv_value(const json_t *value, struct buf *out);

#endif
