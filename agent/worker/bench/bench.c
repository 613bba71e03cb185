/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - run the rows of a case over a backend and report each one */
#include "agent/worker/bench/bench.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/worker/bench/check.h"
#include "agent/worker/bench/measure.h"
#include "agent/worker/bench/timed_data.h"
#include "common/base/memory.h"

#define READER_NS 1000000
#define ELEMENT_MAX 8 /* bytes */

static int lay_out(const struct bench *bench, size_t number, struct bench_row *out,
                   struct error *err)
{
    struct series_row row;

    series_row_at(&bench->file->plan, number, &row);
    return row_lay_out(bench->file, number,
                       row.group == bench_group(bench) ? bench_place(bench) : 0, out,
                       err);
}

/* Set the call's buffers, and the number of offsets over which calls rotate. */
static void place(const struct bench *bench, struct bench_row *row)
{
    size_t element = dtype_size(row->row.dtype) * (size_t)bench_place(bench);
    const struct collective_layout *layout = &row->layout;

    size_t shift = (size_t)bench->file->spec->unalign * dtype_size(row->row.dtype);

    row->recv_base = bench->recv + shift;
    row->call.send = bench->send + shift;
    row->call.recv = row->recv_base;
    if (row->row.in_place) {
        row->call.send = row->recv_base + layout->send_inplace_offset * element;
        row->call.recv = row->recv_base + layout->recv_inplace_offset * element;
    }
    row->offsets = bench->buffer_bytes / layout->size_bytes;
    /* allocate() made room for every row that is not skipped. */
    assert(row->offsets >= 1);
}

static bool must_skip(const struct bench *bench, const struct bench_row *row,
                      char reason[ROW_REASON_MAX])
{
    return (bench->backend->refuses &&
            bench->backend->refuses(bench->comm, &row->call, reason, ROW_REASON_MAX)) ||
           row_must_skip(row, &bench->memory, reason);
}

/* All ranks plan with the share of the rank with the least memory. */
static int plan_memory(struct bench *bench, struct error *err)
{
    int n = bench->file->world_size, poorest = 0;
    struct backend_memory *all = memory_zeroed((size_t)n, sizeof(*all), "memory plan");
    struct backend_memory own = {0};
    int status = bench->backend->memory(bench->comm, &own, err);

    if (!status)
        status = bench_allgather(bench, &own, sizeof(own), all, err);
    for (int rank = 0; !status && rank < n; rank++)
        poorest = all[rank].bytes < all[poorest].bytes ? rank : poorest;
    if (!status) {
        bench->memory.share_bytes = all[poorest].bytes;
        snprintf(bench->memory.text, sizeof(bench->memory.text), "rank %d, %s", poorest,
                 all[poorest].text);
    }
    free(all);
    return status;
}

static int allocate(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);
    void *send = NULL, *recv = NULL;

    bench->memory.margin_bytes = (size_t)bench->file->spec->unalign * ELEMENT_MAX;
    if (plan_memory(bench, err))
        return -1;
    for (size_t i = 0; i < rows; i++) {
        struct bench_row row;
        if (lay_out(bench, i, &row, err))
            return -1;
        row_release(&row);
        if (row.layout.count > 0 && row_fits(&row, &bench->memory) &&
            row.layout.size_bytes > bench->buffer_bytes)
            bench->buffer_bytes = row.layout.size_bytes;
    }
    if (bench->buffer_bytes == 0)
        return 0;
    if (bench->backend->alloc(bench->comm,
                              bench->buffer_bytes + bench->memory.margin_bytes, &send,
                              &recv, err))
        return -1;
    bench->send = send;
    bench->recv = recv;
    return 0;
}

/* ringbench-case, which reads the events, now needs a core. Let it run here rather than
 * during the next row's timed calls. */
static void let_reader_run(void)
{
    struct timespec pause = {.tv_nsec = READER_NS};

    nanosleep(&pause, NULL);
}

/* A simulation moves no data that could be checked. */
static bool is_checked(const struct bench *bench, const struct bench_row *row)
{
    return bench->file->spec->check > 0 && !bench->backend->is_simulated &&
           (!row->row.in_place || collective_facts(row->row.collective)->checks_in_place);
}

struct outcome {
    struct measurement *figures;
    uint64_t *wrong;
    json_t **errors; /* NULL: not checked */
};

static void outcome_init(struct outcome *outcome, int n_groups)
{
    size_t n = (size_t)n_groups;

    outcome->figures = memory_zeroed(n, sizeof(*outcome->figures), "figures");
    outcome->wrong = memory_zeroed(n, sizeof(*outcome->wrong), "figures");
    outcome->errors = memory_zeroed(n, sizeof(*outcome->errors), "figures");
}

static void outcome_release(struct outcome *outcome, int n_groups)
{
    for (int i = 0; i < n_groups; i++) {
        measurement_release(&outcome->figures[i]);
        json_decref(outcome->errors[i]);
    }
    free(outcome->figures);
    free(outcome->wrong);
    free(outcome->errors);
}

static void report(const struct bench *bench, json_t *result)
{
    if (bench->backend->mark)
        bench->backend->mark(bench->comm, result);
    events_emit(bench->events, "result", result);
}

/* On rank 0: report the rows of all groups, starting with row `first` of the plan.
 * outcome NULL: all are skipped. */
static int report_groups(const struct bench *bench, size_t first, struct outcome *outcome,
                         struct error *err)
{
    for (int i = 0; i < bench->file->groups.n; i++) {
        char reason[ROW_REASON_MAX];
        struct bench_row row;

        if (lay_out(bench, first + (size_t)i, &row, err))
            return -1;
        if (must_skip(bench, &row, reason)) {
            json_t *result = row_describe(&row, bench->file, bench->backend);

            json_object_set_new(result, "skipped", json_string(reason));
            report(bench, result);
        } else if (outcome) {
            json_t *errors = outcome->errors[i];

            report(bench,
                   row_result(&row, bench->file, bench->backend, &outcome->figures[i],
                              errors ? json_integer((json_int_t)outcome->wrong[i])
                                     : json_null(),
                              errors ? errors : json_array()));
            outcome->errors[i] = NULL;
        }
        row_release(&row);
    }
    return 0;
}

static int run_row(struct bench *bench, const struct bench_row *row, size_t first,
                   struct error *err)
{
    int n_groups = bench->file->groups.n;
    struct outcome outcome;

    outcome_init(&outcome, n_groups);
    int status = measure_row(bench, row, outcome.figures, err);
    if (!status && is_checked(bench, row)) {
        status = check_row(bench, row, bench->file->spec->check, outcome.wrong,
                           outcome.errors, err);
    }
    if (!status && bench->rank == 0) {
        status = report_groups(bench, first, &outcome, err);
        let_reader_run();
    }
    outcome_release(&outcome, n_groups);
    return status;
}

/* Row `first` belongs to the first group. Returns 1 if at least one group can run its
 * row, 0 if none can, -1 on failure. */
static int can_any(const struct bench *bench, size_t first, struct error *err)
{
    bool can = false;

    for (int i = 0; !can && i < bench->file->groups.n; i++) {
        char reason[ROW_REASON_MAX];
        struct bench_row row;

        if (lay_out(bench, first + (size_t)i, &row, err))
            return -1;
        can = !must_skip(bench, &row, reason);
        row_release(&row);
    }
    return can;
}

/* Run the rows of all groups at the same time, starting with row `first`. */
static int do_rows(struct bench *bench, size_t first, struct error *err)
{
    int can = can_any(bench, first, err), status = 0;
    char reason[ROW_REASON_MAX];
    struct bench_row row;

    if (can < 0 || lay_out(bench, first + (size_t)bench_group(bench), &row, err))
        return -1;
    progress_row(bench->progress, row.row.series, row.layout.size_bytes);
    row.is_idle = must_skip(bench, &row, reason);
    if (!row.is_idle)
        place(bench, &row);
    if (can)
        status = timed_data_begin(bench, &row, err) || run_row(bench, &row, first, err);
    else if (bench->rank == 0)
        status = report_groups(bench, first, NULL, err);
    row_release(&row);
    return status ? -1 : 0;
}

static int run_all(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);

    bench->data = timed_data_create();
    if (allocate(bench, err))
        return -1;
    for (size_t i = 0; i < rows; i += (size_t)bench->file->groups.n)
        if (bench_stopped(bench, err) || do_rows(bench, i, err))
            return -1;
    return 0;
}

int bench_run(struct bench *bench, struct error *err)
{
    int status = run_all(bench, err);

    timed_data_destroy(bench->data);
    bench->data = NULL;
    return status;
}
