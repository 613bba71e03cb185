/* bench.c - run the rows of a case over a backend and report each one */
#include "agent/worker/bench/bench.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/worker/bench/check.h"
#include "agent/worker/bench/measure.h"
#include "agent/worker/bench/timed_data.h"
#include "common/base/units.h"

#define REASON_MAX 512
#define READER_NS 1000000
#define ELEMENT_MAX 8 /* bytes */

static int ranks_of(const struct bench *bench, const struct bench_row *row)
{
    return bench->file->groups.sizes[row->row.group];
}

/* What each rank of the row's group sends to which; the layout becomes the rank's own. */
static int lay_out_traffic(const struct bench *bench, struct bench_row *row,
                           struct error *err)
{
    bool is_own = row->row.group == bench_group(bench);

    if (!collective_facts(row->row.collective)->needs_counts)
        return 0;
    row->traffic = traffic_plan_create(&bench->file->spec->traffic, row->row.dtype,
                                       is_own ? bench_place(bench) : 0,
                                       ranks_of(bench, row), &row->layout);
    return row->traffic ? 0 : error_set(err, ERROR_MEMORY, "traffic: out of memory");
}

/* Row `number` of the plan; release it with release_row. */
static int lay_out(const struct bench *bench, size_t number, struct bench_row *out,
                   struct error *err)
{
    const struct series_plan *plan = &bench->file->plan;
    struct series_row *row = &out->row;

    memset(out, 0, sizeof(*out));
    series_row_at(plan, number, row);
    collective_layout(row->collective, row->size, row->dtype, ranks_of(bench, out),
                      &out->layout);
    if (lay_out_traffic(bench, out, err))
        return -1;
    out->call = (struct backend_call){.kind = row->collective,
                                      .dtype = row->dtype,
                                      .redop = row->redop,
                                      .root = row->root,
                                      .count = out->layout.count,
                                      .traffic = out->traffic};
    return 0;
}

static void release_row(struct bench_row *row)
{
    traffic_plan_destroy(row->traffic);
    row->traffic = NULL;
}

/* Where the call's buffers begin, and how often a row fits behind itself. */
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

static bool fits(const struct bench *bench, const struct bench_row *row)
{
    return row->layout.size_bytes + bench->margin_bytes <= bench->share_bytes / 2;
}

/* Why a row cannot be run; false if it can. */
static bool must_skip(const struct bench *bench, const struct bench_row *row,
                      char reason[REASON_MAX])
{
    char size[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];
    size_t element = dtype_size(row->row.dtype);
    int n = ranks_of(bench, row);

    if (collective_facts(row->row.collective)->needs_power_of_two && (n & (n - 1)) != 0) {
        snprintf(reason, REASON_MAX, "%s is for a power of two of ranks, not %d",
                 collective_name(row->row.collective), n);
        return true;
    }
    if (bench->backend->refuses &&
        bench->backend->refuses(bench->comm, &row->call, reason, REASON_MAX))
        return true;
    if (row->layout.count == 0) {
        snprintf(
            reason, REASON_MAX,
            "%llu bytes over %d ranks in multiples of %zu bytes (%s of %zu bytes) leave "
            "0 elements per rank",
            (unsigned long long)row->row.size, n,
            collective_facts(row->row.collective)->shape != SHAPE_FLAT ? (size_t)16
                                                                       : element,
            dtype_name(row->row.dtype), element);
        return true;
    }
    if (!fits(bench, row)) {
        snprintf(reason, REASON_MAX,
                 "needs 2 buffers of %s per rank, but a rank can have %s: %s",
                 units_format_human(row->layout.size_bytes + bench->margin_bytes, size),
                 units_format_human(bench->share_bytes, share), bench->memory_text);
        return true;
    }
    return false;
}

/* The poorest rank's share counts for all. */
static int plan_memory(struct bench *bench, struct error *err)
{
    int n = bench->file->world_size, poorest = 0;
    int here = bench_ranks_here(bench);
    struct backend_memory *all = calloc((size_t)n, sizeof(*all));
    struct backend_memory *own = calloc((size_t)here, sizeof(*own));
    int status =
        all && own ? 0 : error_set(err, ERROR_MEMORY, "memory plan: out of memory");

    /* Those of one process have the same. */
    if (!status)
        status = bench->backend->memory(bench->comm, own, err);
    for (int i = 1; !status && i < here; i++)
        own[i] = own[0];
    if (!status)
        status = bench_allgather(bench, own, sizeof(*own), all, err);
    for (int rank = 0; !status && rank < n; rank++)
        poorest = all[rank].bytes < all[poorest].bytes ? rank : poorest;
    if (!status) {
        bench->share_bytes = all[poorest].bytes;
        snprintf(bench->memory_text, sizeof(bench->memory_text), "rank %d, %s", poorest,
                 all[poorest].text);
    }
    free(all);
    free(own);
    return status;
}

static int allocate(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);
    void *send = NULL, *recv = NULL;

    bench->margin_bytes = (size_t)bench->file->spec->unalign * ELEMENT_MAX;
    if (plan_memory(bench, err))
        return -1;
    for (size_t i = 0; i < rows; i++) {
        struct bench_row row;
        if (lay_out(bench, i, &row, err))
            return -1;
        release_row(&row);
        if (row.layout.count > 0 && fits(bench, &row) &&
            row.layout.size_bytes > bench->buffer_bytes)
            bench->buffer_bytes = row.layout.size_bytes;
    }
    if (bench->buffer_bytes == 0)
        return 0;
    if (bench->backend->alloc(bench->comm, bench->buffer_bytes + bench->margin_bytes,
                              &send, &recv, err))
        return -1;
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
    if (object && bench->file->plan.cycles > 1)
        json_object_set_new(object, "cycle", json_integer(series->cycle));
    if (object && bench->file->groups.n > 1)
        json_object_set_new(object, "group", json_integer(series->group));
    backend_mark_unreal(bench->backend, object);
    if (object && bench->backend->mark)
        bench->backend->mark(bench->comm, object);
    return object;
}

static json_t *number_array(const double *values, long n)
{
    json_t *array = json_array();

    for (long i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

/* What the blocks say beyond their median. */
static void add_blocks(json_t *result, const struct measurement *figures)
{
    json_t *numbers =
        json_pack("{s:I, s:f, s:f}", "blocks", (json_int_t)figures->n_blocks,
                  "time_p5_us", figures->p5_us, "time_p95_us", figures->p95_us);

    json_object_update(result, numbers);
    json_decref(numbers);
    if (figures->has_interval) {
        json_object_set_new(result, "time_low_us", json_real(figures->low_us));
        json_object_set_new(result, "time_high_us", json_real(figures->high_us));
    }
    json_object_set_new(result, "blocks_us",
                        number_array(figures->blocks_us, figures->n_blocks));
    if (figures->is_noisy)
        json_object_set_new(result, "noisy", json_true());
}

static void report(const struct bench *bench, const struct bench_row *row,
                   const struct measurement *figures, json_t *wrong, json_t *errors)
{
    int n = ranks_of(bench, row);
    double algbw = collective_algbw_gbs(&row->layout, figures->mean_us / 1e6);
    double factor = collective_bus_factor(row->row.collective, n);
    json_t *result = describe(bench, row);
    json_t *numbers = json_pack(
        "{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o*}", "iters",
        (json_int_t)figures->iters, "time_us", figures->mean_us, "time_min_us",
        figures->min_us, "time_max_us", figures->max_us, "algbw_gbs", algbw, "busbw_gbs",
        algbw * factor, "first_us", figures->first_us, "enqueue_us", figures->enqueue_us,
        "times_us", number_array(figures->times_us, n), "wrong", wrong, "errors", errors,
        "nccl", choice_json(&figures->choice));

    if (result && numbers)
        json_object_update(result, numbers);
    json_decref(numbers);
    if (result && figures->samples_us) {
        json_object_set_new(result, "samples_us",
                            number_array(figures->samples_us, figures->n_samples));
    }
    if (result && figures->late_us) {
        json_object_set_new(result, "late_us", number_array(figures->late_us, n));
        json_object_set_new(result, "late_error_us", json_real(figures->late_error_us));
    }
    if (result && figures->n_blocks > 0)
        add_blocks(result, figures);
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
    return bench->file->spec->check > 0 &&
           (!row->row.in_place || collective_facts(row->row.collective)->checks_in_place);
}

/* What came of a row, by group. */
struct outcome {
    struct measurement *figures;
    uint64_t *wrong;
    json_t **errors; /* NULL where nothing was checked */
};

static int outcome_init(struct outcome *outcome, int n_groups, struct error *err)
{
    size_t n = (size_t)n_groups;

    outcome->figures = calloc(n, sizeof(*outcome->figures));
    outcome->wrong = calloc(n, sizeof(*outcome->wrong));
    outcome->errors = calloc(n, sizeof(*outcome->errors));
    return outcome->figures && outcome->wrong && outcome->errors
               ? 0
               : error_set(err, ERROR_MEMORY, "figures: out of memory");
}

static void outcome_release(struct outcome *outcome, int n_groups)
{
    for (int i = 0; i < n_groups; i++) {
        if (outcome->figures)
            measurement_release(&outcome->figures[i]);
        if (outcome->errors)
            json_decref(outcome->errors[i]);
    }
    free(outcome->figures);
    free(outcome->wrong);
    free(outcome->errors);
}

static void report_skipped(const struct bench *bench, const struct bench_row *row,
                           const char *reason)
{
    json_t *result = describe(bench, row);

    if (result) {
        json_object_set_new(result, "skipped", json_string(reason));
        events_emit(bench->events, "result", result);
    }
}

/* Rank 0: the rows of all groups, from number `first` on. outcome NULL: all are skipped.
 */
static int report_groups(const struct bench *bench, size_t first, struct outcome *outcome,
                         struct error *err)
{
    for (int i = 0; i < bench->file->groups.n; i++) {
        char reason[REASON_MAX];
        struct bench_row row;

        if (lay_out(bench, first + (size_t)i, &row, err))
            return -1;
        if (must_skip(bench, &row, reason)) {
            report_skipped(bench, &row, reason);
        } else if (outcome) {
            json_t *errors = outcome->errors[i];
            report(bench, &row, &outcome->figures[i],
                   errors ? json_integer((json_int_t)outcome->wrong[i]) : json_null(),
                   errors ? errors : json_array());
            outcome->errors[i] = NULL;
        }
        release_row(&row);
    }
    return 0;
}

static int run_row(struct bench *bench, const struct bench_row *rows, size_t first,
                   struct error *err)
{
    const struct bench_row *row = bench_row_of(bench, rows);
    int n_groups = bench->file->groups.n;
    struct outcome outcome = {0};

    int status = outcome_init(&outcome, n_groups, err);
    if (!status)
        status = measure_row(bench, rows, outcome.figures, err);
    if (!status && is_checked(bench, row)) {
        status = check_row(bench, rows, bench->file->spec->check, outcome.wrong,
                           outcome.errors, err);
    }
    if (!status && bench->rank == 0) {
        status = report_groups(bench, first, &outcome, err);
        let_reader_run();
    }
    outcome_release(&outcome, n_groups);
    return status;
}

/* Whether some group can do its row of those from number `first` on; -1: failed. */
static int can_any(const struct bench *bench, size_t first, struct error *err)
{
    bool can = false;

    for (int i = 0; !can && i < bench->file->groups.n; i++) {
        char reason[REASON_MAX];
        struct bench_row row;

        if (lay_out(bench, first + (size_t)i, &row, err))
            return -1;
        can = !must_skip(bench, &row, reason);
        release_row(&row);
    }
    return can;
}

/* rows: n of them, see bench_row_of. */
static int run_own(struct bench *bench, struct bench_row *rows, int n, size_t first,
                   struct error *err)
{
    const struct bench_row *row = bench_row_of(bench, rows);
    char reason[REASON_MAX];

    for (int i = 0; i < n; i++) {
        rows[i].is_idle = must_skip(bench, &rows[i], reason);
        if (!rows[i].is_idle)
            place(bench, &rows[i]);
    }
    if (timed_data_begin(bench, row, err))
        return -1;
    return run_row(bench, rows, first, err);
}

/* So that whoever looks at a rank's progress sees which row it is at. */
struct begin {
    struct bench *bench;
    const struct bench_row *rows;
};

static int begin_row(void *arg, int here, struct error *err)
{
    const struct begin *begin = arg;
    const struct bench_row *row = bench_row_of(begin->bench, begin->rows);

    (void)here;
    (void)err;
    progress_row(begin->bench->progress, row->row.series, row->layout.size_bytes);
    return 0;
}

/* The rows of all groups, from number `first` on, at the same time. */
static int do_rows(struct bench *bench, size_t first, struct error *err)
{
    int n = bench->played ? bench->file->groups.n : 1, status = 0;
    size_t own = bench->played ? first : first + (size_t)bench_group(bench);
    struct bench_row *rows = calloc((size_t)n, sizeof(*rows));
    int can = can_any(bench, first, err);

    if (!rows)
        status = error_set(err, ERROR_MEMORY, "row: out of memory");
    for (int i = 0; !status && i < n; i++)
        status = lay_out(bench, own + (size_t)i, &rows[i], err);
    if (!status && can >= 0)
        status = bench_each(bench, begin_row, &(struct begin){bench, rows}, err);
    if (!status && can > 0)
        status = run_own(bench, rows, n, first, err);
    else if (!status && can == 0 && bench->rank == 0)
        status = report_groups(bench, first, NULL, err);
    for (int i = 0; rows && i < n; i++)
        release_row(&rows[i]);
    free(rows);
    return can < 0 ? -1 : status;
}

static int run_all(struct bench *bench, struct error *err)
{
    size_t rows = series_rows(&bench->file->plan);

    bench->data = timed_data_create(err);
    if (!bench->data || allocate(bench, err))
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
