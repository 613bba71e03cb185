/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - a row of a case: the call that it measures, and the event that reports it */
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
    struct backend_call call; /* send and recv at offset 0 */
    char *recv_base;          /* of the whole receive side, as call.recv out of place */
    size_t offsets;           /* places in the buffers that calls rotate over */
    struct traffic_plan *traffic; /* of alltoallv, else NULL */
    int n_ranks;                  /* of its group */
    /* Other groups measure a row that this one cannot: take part in what all ranks do. */
    bool is_idle;
};

/* What a rank may allocate. */
struct row_memory {
    uint64_t share_bytes; /* the poorest rank's */
    size_t margin_bytes;  /* for buffers that are to lie unaligned */
    char text[300];       /* how the share came about */
};

/* Row `number` of the case's plan; the layout of alltoallv is that of rank `place` in its
 * group. Release it, except after a failure. */
int row_lay_out(const struct case_file *file, size_t number, int place,
                struct bench_row *out, struct error *err);
void row_release(struct bench_row *row);

bool row_fits(const struct bench_row *row, const struct row_memory *memory);

/* Why its group cannot do it; false if it can. */
bool row_must_skip(const struct bench_row *row, const struct row_memory *memory,
                   char reason[ROW_REASON_MAX]);

/* The event `result`, new: what the row is, and with figures what was measured. wrong and
 * errors (taken over): what the check found. */
json_t *row_describe(const struct bench_row *row, const struct case_file *file,
                     const struct backend *backend);
json_t *row_result(const struct bench_row *row, const struct case_file *file,
                   const struct backend *backend, const struct measurement *figures,
                   json_t *wrong, json_t *errors);

#endif
