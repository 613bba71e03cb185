/* csv.h - result rows as RFC 4180: a header line, CRLF, quotes where needed */
#ifndef RINGBENCH_SERVER_API_CSV_H
#define RINGBENCH_SERVER_API_CSV_H

#include <jansson.h>

#include "common/buf.h"

/* What the rows are: measurements, or the figures of a program. */
enum csv_kind { CSV_MEASUREMENTS, CSV_FIGURES };

void csv_header(enum csv_kind kind, struct buf *out);

/* A row of docs/worker-contract.md with "case". Arrays of numbers are joined by
 * semicolons, and so are an object's members, as NAME=VALUE; absent and null members are
 * empty; the list of wrong elements is left out.
 */
void csv_row(enum csv_kind kind, const json_t *row, struct buf *out);

/* One field, quoted if it holds a comma, a quote or a line break. */
void csv_field(const char *text, struct buf *out);

#endif
