/* csv.h - result rows as RFC 4180: a header line, CRLF, quotes where needed */
#ifndef RINGBENCH_SERVER_RENDER_CSV_H
#define RINGBENCH_SERVER_RENDER_CSV_H

#include <jansson.h>
#include <stdbool.h>

#include "common/base/buf.h"

/* The columns of a run by common/result/row_fields.h: those of rows, or those of
 * figures of a program, and then what its case is: the repeat,
 * and a column for each variable of the matrix. */
struct csv {
    bool has_rows, has_figures;
    bool has_samples; /* with the columns that are KEPT_APART; false after csv_init */
    json_t *matrix;   /* object by the names of the variables, or NULL */
    json_t *cases;    /* array of {"repeat","env"}, or NULL */
};

/* For a run's document. */
void csv_init(struct csv *csv, const json_t *run);
void csv_release(struct csv *csv);

void csv_header(const struct csv *csv, struct buf *out);

/* A row or figure of docs/development/worker-contract.md with "case". Arrays of numbers
 * are joined by semicolons, and so are an object's members, as NAME=VALUE; absent and
 * null members are empty, and so is a variable that is not set (one that is set to
 * nothing is ""); the list of wrong elements is left out. */
void csv_row(const struct csv *csv, const json_t *row, struct buf *out);

/* Append one field, quoted if it has a comma, a quote or a line break, and behind an
 * apostrophe if a spreadsheet would take it for a formula. */
void csv_field(const char *text, struct buf *out);

/* Append a value as one field: nothing for null, an array's members joined by semicolons,
 * an object's as NAME=VALUE. */
void csv_value(const json_t *value, struct buf *out);

#endif
