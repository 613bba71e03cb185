/* control.c - measure the control series on the case's backend */
#include "agent/worker/bench/control.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/worker/bench/timed_data.h"
#include "agent/worker/bench/control_ops.h"
#include "agent/worker/bench/control_stats.h"
#include "agent/worker/bench/fault.h"
#include "common/base/clock.h"
#include "common/base/units.h"

#define REASON_MAX 512

/* What is timed for one kind: one thing, or two and how many times slower the one is. */
static const struct {
    control_op *first, *second;
    bool is_first_slower;
} timed[CONTROL_COUNT] = {
    [CONTROL_BARRIER] = {.first = control_ops_barrier},
    [CONTROL_GATHER_OBJECT] = {control_ops_gather_object, control_ops_reduce_flag, true},
    [CONTROL_CHUNKS] = {control_ops_one_large, control_ops_many_small, false},
};

struct control {
    struct bench *bench;
    struct control_ops ops;
    enum control_kind kind;
    size_t row; /* of the figure that comes next, over the whole case */
};

static uint64_t bytes_of(const struct control *control)
{
    const struct case_file *file = control->bench->file;

    return control_bytes(&file->spec->control, control->kind, file->world_size);
}

/* ---- time ---- */

static int64_t now_ns(const struct control *control)
{
    const struct backend *backend = control->bench->backend;
    return backend->clock_ns ? backend->clock_ns(control->bench->comm)
                             : clock_monotonic_ns();
}

static int repeat(struct control *control, control_op *op, long times, double *us,
                  struct error *err)
{
    enum fault_kind fault = fault_at(control->bench, control->row);

    for (long i = 0; i < times; i++) {
        if (bench_barrier(control->bench, err))
            return -1;
        /* Late is late before the clock starts: this rank waits for nobody. */
        if (fault != FAULT_NONE && fault_act(control->bench, fault, err))
            return -1;
        int64_t start = now_ns(control);
        if (op(&control->ops, err))
            return -1;
        us[i] = (double)(now_ns(control) - start) / 1e3;
    }
    return 0;
}

static long iters_of(const struct control *control)
{
    const struct run_spec *spec = control->bench->file->spec;

    return control->kind == CONTROL_CHUNKS ? run_spec_iters(spec) : spec->control.iters;
}

static int time_one(struct control *control, control_op *op, struct control_stats *out,
                    struct error *err)
{
    const struct run_spec *spec = control->bench->file->spec;
    long iters = iters_of(control), warmup = spec->warmup > 1 ? spec->warmup : 1;
    double *us = calloc((size_t)(iters > warmup ? iters : warmup), sizeof(*us));

    int status = us ? 0 : error_set(err, ERROR_MEMORY, "control: out of memory");
    if (!status) {
        status =
            repeat(control, op, warmup, us, err) || repeat(control, op, iters, us, err)
                ? -1
                : control_stats_combine(control->bench, us, iters, out, err);
    }
    free(us);
    return status;
}

/* ---- what came of it ---- */

static json_t *labels_of(const struct control *control)
{
    const struct control_plan *plan = &control->bench->file->spec->control;

    switch (control->kind) {
    case CONTROL_GATHER_OBJECT:
        return json_pack("{s:I}", "object_bytes", (json_int_t)plan->object_bytes);
    case CONTROL_CHUNKS:
        return json_pack("{s:I, s:I}", "bytes", (json_int_t)control_chunk_bytes(plan),
                         "pieces", (json_int_t)plan->pieces);
    case CONTROL_BARRIER:
    case CONTROL_COUNT:
        break;
    }
    return NULL;
}

/* A figure without its value; NULL on ranks that do not report, too. */
static json_t *describe(const struct control *control, size_t i, const char *unit)
{
    const struct bench *bench = control->bench;
    json_t *labels = labels_of(control);

    json_t *figure = bench->rank == 0 ? json_pack("{s:I, s:s, s:s, s:s, s:b}", "row",
                                                  (json_int_t)control->row, "control",
                                                  control_name(control->kind), "metric",
                                                  control_figure(control->kind, i),
                                                  "unit", unit, "higher_is_better", 0)
                                      : NULL;
    if (figure && labels)
        json_object_set(figure, "labels", labels);
    json_decref(labels);
    backend_mark_unreal(bench->backend, figure);
    if (figure && bench->backend->mark)
        bench->backend->mark(bench->comm, figure);
    return figure;
}

static void report_time(struct control *control, size_t i,
                        const struct control_stats *stats)
{
    json_t *figure = describe(control, i, "us"), *values = json_array();

    control->row++;
    for (int rank = 0; rank < control->bench->file->world_size; rank++)
        json_array_append_new(values, json_real(stats->medians_us[rank]));
    json_t *numbers =
        json_pack("{s:f, s:f, s:f, s:f, s:O, s:I}", "value", stats->median_us, "p99",
                  stats->p99_us, "min", stats->min_us, "max", stats->max_us, "values",
                  values, "iters", (json_int_t)stats->iters);
    json_decref(values);
    if (figure) {
        json_object_update(figure, numbers);
        events_emit(control->bench->events, "result", figure);
    }
    json_decref(numbers);
}

static void report_ratio(struct control *control, const struct control_stats *slower,
                         const struct control_stats *faster)
{
    json_t *figure = describe(control, 2, "times");

    control->row++;
    if (figure && faster->median_us > 0) {
        json_object_set_new(figure, "value",
                            json_real(slower->median_us / faster->median_us));
        events_emit(control->bench->events, "result", figure);
    } else {
        json_decref(figure);
    }
}

static void report_skipped(struct control *control)
{
    const struct bench *bench = control->bench;
    char size[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX], reason[REASON_MAX];

    snprintf(reason, sizeof(reason),
             "needs 2 buffers of %s per rank, but a rank can have %s: %s",
             units_format_human(bytes_of(control), size),
             units_format_human(bench->share_bytes, share), bench->memory_text);
    for (size_t i = 0; control_figure(control->kind, i); i++, control->row++) {
        json_t *figure = describe(control, i, i < 2 ? "us" : "times");
        if (figure) {
            json_object_set_new(figure, "skipped", json_string(reason));
            events_emit(bench->events, "result", figure);
        }
    }
}

static int measure(struct control *control, struct error *err)
{
    struct control_stats first = {0}, second = {0};
    control_op *other = timed[control->kind].second;

    int status = time_one(control, timed[control->kind].first, &first, err);
    if (!status) {
        report_time(control, 0, &first);
        status = other ? time_one(control, other, &second, err) : 0;
    }
    if (!status && other) {
        report_time(control, 1, &second);
        bool is_first_slower = timed[control->kind].is_first_slower;
        report_ratio(control, is_first_slower ? &first : &second,
                     is_first_slower ? &second : &first);
    }
    control_stats_release(&first);
    control_stats_release(&second);
    return status;
}

/* Those of the collectives come before. */
static uint64_t first_series(const struct bench *bench)
{
    size_t rows = series_rows(&bench->file->plan);
    struct series_row last;

    return rows && series_row_at(&bench->file->plan, rows - 1, &last) ? last.series + 1
                                                                      : 0;
}

static int do_kind(struct control *control, struct error *err)
{
    struct bench *bench = control->bench;

    progress_row(bench->progress, first_series(bench) + control->kind, bytes_of(control));
    if (bytes_of(control) > bench->share_bytes / 2) {
        report_skipped(control);
        return 0;
    }
    if (timed_data_put(bench, DTYPE_FLOAT32, REDOP_SUM, err))
        return -1;
    if (control_ops_init(&control->ops, bench, control->kind, err))
        return -1;
    int status = measure(control, err);
    control_ops_release(&control->ops);
    return status;
}

int control_run(struct bench *bench, struct error *err)
{
    struct control control = {.bench = bench, .row = series_rows(&bench->file->plan)};
    unsigned kinds = bench->file->spec->control.kinds;
    int status = 0;

    for (int kind = 0; !status && kind < CONTROL_COUNT; kind++) {
        control.kind = (enum control_kind)kind;
        if (kinds & (1u << kind))
            status = bench_stopped(bench, err) || do_kind(&control, err) ? -1 : 0;
    }
    return status;
}
