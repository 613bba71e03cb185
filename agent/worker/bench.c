/* bench.c - run the rows of a case over a backend and report each one */
#include "agent/worker/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/worker/check.h"
#include "agent/worker/control.h"
#include "agent/worker/measure.h"
#include "common/units.h"

#define REASON_MAX 512
#define READER_NS 1000000

int bench_stopped(const struct bench *bench, struct error *err)
{
    if (atomic_load_explicit(bench->stop, memory_order_relaxed)) {
        return error_set(err, ERROR_UNAVAILABLE, "told to stop");
    }
    return 0;
}

int bench_barrier(struct bench *bench, struct error *err)
{
    progress_wait(bench->progress, true);
    int status = bench->backend->barrier(bench->comm, err);
    progress_wait(bench->progress, false);
    return status;
}

int bench_allgather(struct bench *bench, const void *mine, size_t len, void *all,
                    struct error *err)
{
    progress_wait(bench->progress, true);
    int status = bench->backend->allgather(bench->comm, mine, len, all, err);
    progress_wait(bench->progress, false);
    return status;
}

static void lay_out(const struct bench *bench, size_t number, struct bench_row *out)
{
    const struct series_plan *plan = &bench->file->plan;
    struct series_row *row = &out->row;

    memset(out, 0, sizeof(*out));
    series_row_at(plan, number, row);
    collective_layout(row->collective, row->size, row->dtype, plan->world_size,
                      &out->layout);
    out->call = (struct backend_call){.kind = row->collective,
                                      .dtype = row->dtype,
                                      .redop = row->redop,
                                      .root = row->root,
                                      .count = out->layout.count};
}

/* Where the call's buffers begin, and how often a row fits behind itself. */
static void place(const struct bench *bench, struct bench_row *row)
{
    size_t element = dtype_size(row->row.dtype) * (size_t)bench->rank;
    const struct collective_layout *layout = &row->layout;

    row->call.send = bench->send;
    row->call.recv = bench->recv;
    if (row->row.in_place) {
        row->call.send = bench->recv + layout->send_inplace_offset * element;
        row->call.recv = bench->recv + layout->recv_inplace_offset * element;
    }
    row->offsets = bench->buffer_bytes / layout->size_bytes;
}

static bool fits(const struct bench *bench, const struct bench_row *row)
{
    return row->layout.size_bytes <= bench->share_bytes / 2;
}

/* Why a row cannot be run; false if it can. */
static bool must_skip(const struct bench *bench, const struct bench_row *row,
                      char reason[REASON_MAX])
{
    char size[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];
    size_t element = dtype_size(row->row.dtype);

    if (row->layout.count == 0) {
        snprintf(
            reason, REASON_MAX,
            "%llu bytes over %d ranks in multiples of %zu bytes (%s of %zu bytes) leave "
            "0 elements per rank",
            (unsigned long long)row->row.size, bench->file->world_size,
            row->row.collective == COLLECTIVE_ALL_REDUCE ||
                    row->row.collective == COLLECTIVE_BROADCAST ||
                    row->row.collective == COLLECTIVE_REDUCE ||
                    row->row.collective == COLLECTIVE_SENDRECV
                ? element
                : (size_t)16,
            dtype_name(row->row.dtype), element);
        return true;
    }
    if (!fits(bench, row)) {
        snprintf(reason, REASON_MAX,
                 "needs 2 buffers of %s per rank, but a rank can have %s: %s",
                 units_format_human(row->layout.size_bytes, size),
                 units_format_human(bench->share_bytes, share), bench->memory_text);
        return true;
    }
    return false;
}

/* The poorest rank's share counts for all. */
static int plan_memory(struct bench *bench, struct error *err)
{
    int n = bench->file->world_size, poorest = 0;
    struct backend_memory own, *all = calloc((size_t)n, sizeof(*all));

    if (!all) {
        return error_set(err, ERROR_MEMORY, "memory plan: out of memory");
    }
    memset(&own, 0, sizeof(own));
    int status = bench->backend->memory(bench->comm, &own, err);
    if (!status) {
        status = bench_allgather(bench, &own, sizeof(own), all, err);
    }
    for (int rank = 0; !status && rank < n; rank++) {
        poorest = all[rank].bytes < all[poorest].bytes ? rank : poorest;
    }
    if (!status) {
        bench->share_bytes = all[poorest].bytes;
        snprintf(bench->memory_text, sizeof(bench->memory_text), "rank %d, %s", poorest,
                 all[poorest].text);
    }
    free(all);
    return status;
}

static int allocate(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);
    void *send = NULL, *recv = NULL;

    if (plan_memory(bench, err)) {
        return -1;
    }
    for (size_t i = 0; i < rows; i++) {
        struct bench_row row;
        lay_out(bench, i, &row);
        if (row.layout.count > 0 && fits(bench, &row) &&
            row.layout.size_bytes > bench->buffer_bytes) {
            bench->buffer_bytes = row.layout.size_bytes;
        }
    }
    uint64_t control = control_buffer_bytes(bench->file, bench->share_bytes / 2);
    bench->buffer_bytes = control > bench->buffer_bytes ? control : bench->buffer_bytes;
    if (bench->buffer_bytes == 0) {
        return 0;
    }
    if (bench->backend->alloc(bench->comm, bench->buffer_bytes, &send, &recv, err)) {
        return -1;
    }
    bench->send = send;
    bench->recv = recv;
    return 0;
}

static json_t *describe(const struct bench *bench, const struct bench_row *row)
{
    const struct series_row *series = &row->row;

    json_t *object = json_pack(
        "{s:I, s:I, s:s, s:s, s:s, s:i, s:b, s:I, s:I}", "row", (json_int_t)series->row,
        "series", (json_int_t)series->series, "collective",
        collective_name(series->collective), "dtype", dtype_name(series->dtype), "redop",
        series->redop < 0 ? "none" : redop_name((enum redop)series->redop), "root",
        series->root, "in_place", series->in_place, "size",
        (json_int_t)(row->layout.count ? row->layout.size_bytes : series->size), "count",
        (json_int_t)row->layout.count);
    backend_mark_unreal(bench->backend, object);
    if (object && bench->backend->mark) {
        bench->backend->mark(bench->comm, object);
    }
    return object;
}

static json_t *number_array(const double *values, long n)
{
    json_t *array = json_array();

    for (long i = 0; i < n; i++) {
        json_array_append_new(array, json_real(values[i]));
    }
    return array;
}

static void report(const struct bench *bench, const struct bench_row *row,
                   const struct measurement *figures, json_t *wrong, json_t *errors)
{
    int n = bench->file->world_size;
    double algbw = collective_algbw_gbs(&row->layout, figures->mean_us / 1e6);
    double factor = collective_bus_factor(row->row.collective, n);
    json_t *result = describe(bench, row);
    json_t *numbers =
        json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "iters",
                  (json_int_t)figures->iters, "time_us", figures->mean_us, "time_min_us",
                  figures->min_us, "time_max_us", figures->max_us, "algbw_gbs", algbw,
                  "busbw_gbs", algbw * factor, "first_us", figures->first_us, "times_us",
                  number_array(figures->times_us, n), "wrong", wrong, "errors", errors);

    if (result && numbers) {
        json_object_update(result, numbers);
    }
    json_decref(numbers);
    if (result && figures->samples_us) {
        json_object_set_new(result, "samples_us",
                            number_array(figures->samples_us, figures->n_samples));
    }
    events_emit(bench->events, "result", result);
}

/* Whoever reads the events is awake now and wants a core: better here than in the timed
 * calls of the next row. */
static void let_reader_run(void)
{
    struct timespec pause = {.tv_nsec = READER_NS};

    nanosleep(&pause, NULL);
}

static bool is_checked(const struct bench *bench, const struct bench_row *row)
{
    return bench->file->check > 0 &&
           (!row->row.in_place || collective_checks_in_place(row->row.collective));
}

static int run_row(struct bench *bench, const struct bench_row *row, struct error *err)
{
    struct measurement figures = {0};
    uint64_t wrong = 0;
    json_t *errors = NULL;
    bool has_check = is_checked(bench, row);

    int status = measure_row(bench, row, &figures, err);
    if (!status && has_check) {
        status = check_row(bench, row, bench->file->check, &wrong, &errors, err);
    }
    if (!status && bench->rank == 0) {
        report(bench, row, &figures,
               has_check ? json_integer((json_int_t)wrong) : json_null(),
               has_check ? errors : json_array());
        let_reader_run();
        errors = NULL;
    }
    json_decref(errors);
    measurement_release(&figures);
    return status;
}

static int do_row(struct bench *bench, size_t number, struct error *err)
{
    struct bench_row row;
    char reason[REASON_MAX];

    lay_out(bench, number, &row);
    progress_row(bench->progress, row.row.series, row.layout.size_bytes);
    if (must_skip(bench, &row, reason)) {
        json_t *result = bench->rank == 0 ? describe(bench, &row) : NULL;
        if (result) {
            json_object_set_new(result, "skipped", json_string(reason));
            events_emit(bench->events, "result", result);
        }
        return 0;
    }
    place(bench, &row);
    if (bench->filled_with != row.row.dtype) {
        bench->filled_with = row.row.dtype;
        if (check_neutralise(bench, row.row.dtype, bench->buffer_bytes, err)) {
            return -1;
        }
    }
    return run_row(bench, &row, err);
}

int bench_run(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);

    bench->filled_with = DTYPE_COUNT;
    if (allocate(bench, err)) {
        return -1;
    }
    for (size_t i = 0; i < rows; i++) {
        if (bench_stopped(bench, err) || do_row(bench, i, err)) {
            return -1;
        }
    }
    return control_run(bench, err);
}
