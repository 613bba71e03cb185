/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - writes result rows in the columns of nccl-tests (NVIDIA/nccl-tests 2.19,
 * util.cu). The out-of-place and in-place rows of a size share one line. */
#ifndef RINGBENCH_SERVER_RENDER_TABLE_H
#define RINGBENCH_SERVER_RENDER_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

struct table {
    bool is_paired;   /* in-place rows follow out-of-place rows */
    bool names_cases; /* headings name the case */
    json_t *cases;    /* array of the run's cases, or NULL */
    json_t *held;     /* rows by case if cases run at the same time, else NULL */
    size_t n_held;
    /* out-of-place rows that wait for their in-place rows, one per group */
    json_t *pending;
    json_t *heading_row; /* a row of the series whose heading was printed last */
    uint64_t halves, empty_halves, wrong_halves, checked_halves, noisy_halves;
    uint64_t enqueued_halves;
    double busbw_sum, enqueue_us_sum, enqueued_us_sum;
};

/* Initialize the table for a run's spec, as in the run's document. A pattern runs cases
 * at the same time, so the table keeps the rows of each case together. */
void table_init(struct table *table, const json_t *spec, bool names_cases);
/* Show the cases' variables in headings. `cases` is borrowed from the run's document. */
void table_name_cases(struct table *table, json_t *cases);
void table_release(struct table *table);

/* Append the lines that the next result row completes. The row is borrowed and has the
 * form in docs/development/worker-contract.md, with "case". Rows must arrive in the order
 * of common/spec/series.h. */
void table_row(struct table *table, json_t *row, struct buf *out);

/* Append the rows held back for a case that has ended. */
void table_end_case(struct table *table, int64_t case_no, struct buf *out);

/* Append the lines of rows whose in-place rows have not arrived. */
void table_flush(struct table *table, struct buf *out);

/* Flush, then append nccl-tests' closing lines. Appends nothing if there was no row. */
void table_end(struct table *table, struct buf *out);

/* Return "simulated" or "emulated" for a row that was not measured, else NULL. */
const char *table_unreal(const json_t *row);

/* Format a number like nccl-tests. It has two decimals, or fewer if it would exceed
 * `width` (at most 15), and an exponent only if it does not fit otherwise. `out` has room
 * for 16 bytes. */
const char *table_number(double value, int width, char out[16]);

#endif
