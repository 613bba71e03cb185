/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - a row of a case: its collective call, and the event `result` */
#ifndef RINGBENCH_WORKER_BENCH_ROW_H
#define RINGBENCH_WORKER_BENCH_ROW_H

#include <jansson.h>

#include "agent/worker/bench/backend.h"
#include "agent/worker/bench/case_file.h"
#include "agent/worker/bench/measure.h"

#define ROW_REASON_MAX 512

struct bench_row {
    struct series_row row;
    struct collective_layout layout;
    struct backend_call call; /* at buffer offset 0 */
    /* start of the receive buffer; equals call.recv if out of place */
    char *recv_base;
    size_t offsets;               /* number of buffer offsets among which calls rotate */
    struct traffic_plan *traffic; /* alltoallv; else NULL */
    int n_ranks;                  /* ranks of the row's group */
    /* Only other groups can run this row. This rank takes part only in barriers and
     * exchanges. */
    bool is_idle;
};

/* The memory plan, which is the same on all ranks. */
struct row_memory {
    uint64_t share_bytes; /* the smallest share of any rank, for both buffers */
    size_t margin_bytes;  /* additional bytes per buffer, for unaligned placement */
    char text[300];       /* how the share was determined */
};

/* Lay out row `number` of the case's plan. An alltoallv is laid out for rank `place` of
 * the group. On success the caller releases *out with row_release; a failure allocates
 * nothing. */
int row_lay_out(const struct case_file *file, size_t number, int place,
                struct bench_row *out, struct error *err);
void row_release(struct bench_row *row);

bool row_fits(const struct bench_row *row, const struct row_memory *memory);

/* True, with the reason, if the row's group cannot run it. */
bool row_must_skip(const struct bench_row *row, const struct row_memory *memory,
                   char reason[ROW_REASON_MAX]);

/* The event `result`, a new object: row_describe without figures, row_result with them.
 * `wrong` and `errors` are the check's results. row_result takes ownership of both. */
json_t *row_describe(const struct bench_row *row, const struct case_file *file,
                     const struct backend *backend);
json_t *row_result(const struct bench_row *row, const struct case_file *file,
                   const struct backend *backend, const struct measurement *figures,
                   json_t *wrong, json_t *errors);

#endif
