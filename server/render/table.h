/* table.h - result rows in the columns of nccl-tests (NVIDIA/nccl-tests 2.19, util.cu):
 * one line for the out-of-place and in-place pair of a size */
#ifndef RINGBENCH_SERVER_RENDER_TABLE_H
#define RINGBENCH_SERVER_RENDER_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"

struct table {
    bool is_paired;   /* in-place rows follow out-of-place ones */
    bool names_cases; /* headings say which case */
    json_t *cases;    /* an array of the run's cases, or NULL */
    json_t *held;     /* rows by case, where several go side by side; or NULL */
    size_t n_held;
    json_t *pending;     /* out-of-place rows that wait for their pairs, one per group */
    json_t *heading_row; /* a row of the series whose heading was printed last */
    uint64_t halves, empty_halves, wrong_halves, checked_halves, noisy_halves;
    uint64_t enqueued_halves;
    double busbw_sum, enqueue_us_sum, enqueued_us_sum;
};

/* Of a run with this spec, as documents have it. With a pattern, whose cases go side by
 * side, the rows of each stay together. */
void table_init(struct table *table, const json_t *spec, bool names_cases);
/* Headings say the variables of a case, too: `cases` (borrowed) as a run has them. */
void table_name_cases(struct table *table, json_t *cases);
void table_release(struct table *table);

/* Take the next result row (docs/development/worker-contract.md, with "case"; borrowed)
 * and append the lines that are complete now. Rows come in the order of
 * common/spec/series.h. */
void table_row(struct table *table, json_t *row, struct buf *out);

/* No more rows of that case will come: append those that were kept for it. */
void table_end_case(struct table *table, int64_t case_no, struct buf *out);

/* Append the line of a row whose pair has not come. */
void table_flush(struct table *table, struct buf *out);

/* Flush, and append nccl-tests' closing lines. Nothing if there was no row. */
void table_end(struct table *table, struct buf *out);

/* "simulated" or "emulated" where the row is not measured, else NULL. */
const char *table_unreal(const json_t *row);

/* A number in nccl-tests' way: two decimals, fewer when it would be wider than `width`
 * (at most 15), then an exponent. out has 16 bytes. */
const char *table_number(double value, int width, char out[16]);

#endif
