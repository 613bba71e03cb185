/* SPDX-License-Identifier: Apache-2.0 */
/* row_fields.h - lists the fields of a result: a row of a collective, or a figure of a
 * program. The table defines which results contain a field and where the field appears.
 * CSV columns, headings in text output, the series of a summary, /openapi.json and
 * docs/reference/columns.md are generated from the table or checked against it. */
#ifndef RINGBENCH_COMMON_RESULT_ROW_FIELDS_H
#define RINGBENCH_COMMON_RESULT_ROW_FIELDS_H

#include <stddef.h>

enum row_type {
    ROW_INTEGER,
    ROW_INTEGER_OR_NULL,
    ROW_NUMBER,
    ROW_BOOLEAN,
    ROW_TRUE, /* present only if true */
    ROW_STRING,
    ROW_COLLECTIVE, /* a name of a collective (common/spec/collective.h) */
    ROW_DTYPE,
    ROW_REDOP,
    ROW_NUMBERS, /* an array of numbers */
    ROW_ERRORS,  /* an array of {"rank","index","expected","got"} */
    ROW_CHOICE, /* an object {"algo","proto","channels","by","ranks_differ","unrequested"}
                 */
    ROW_LABELS  /* an object of strings, numbers and booleans */
};

/* Flags that define which results contain a field, and where the field appears. */
enum row_use {
    ROW_EACH = 1,       /* every row, including skipped rows */
    ROW_TIMED = 2,      /* every row that was measured */
    ROW_SOME = 4,       /* rows to which the field applies */
    FIGURE_EACH = 8,    /* every figure */
    FIGURE_SOME = 16,   /* figures to which the field applies */
    IN_CSV = 32,        /* a CSV column of rows */
    IN_FIGURE_CSV = 64, /* a CSV column of figures */
    IN_HEADING =
        128,      /* text output: rows that differ in this field get separate headings */
    IN_KEY = 256, /* the field is equal in all rows of a series */
    IN_FIGURE_KEY = 512,
    FROM_SERVER = 1024, /* the server adds the field; workers do not send it */
    KEPT_APART = 2048   /* shown only with samples, see event_samples.h */
};

#define ROW_ANY (ROW_EACH | ROW_TIMED | ROW_SOME)
#define FIGURE_ANY (FIGURE_EACH | FIGURE_SOME)

struct row_field {
    const char *name;
    enum row_type type;
    int minimum;      /* minimum of an integer */
    const char *unit; /* unit of the field, or "" */
    unsigned use;     /* bits of enum row_use */
    const char *meaning;
};

/* Return all fields in the order of the CSV columns; static. */
const struct row_field *row_fields(size_t *n);

#endif
