/* SPDX-License-Identifier: Apache-2.0 */
/* row.c - a row of a case: its collective call, and the event `result` */
#include "agent/worker/bench/row.h"

#include <stdio.h>
#include <string.h>

#include "common/base/units.h"

int row_lay_out(const struct case_file *file, size_t number, int place,
                struct bench_row *out, struct error *err)
{
    struct series_row *row = &out->row;

    memset(out, 0, sizeof(*out));
    series_row_at(&file->plan, number, row);
    out->n_ranks = file->groups.sizes[row->group];
    collective_layout(row->collective, row->size, row->dtype, out->n_ranks, &out->layout);
    if (collective_facts(row->collective)->needs_counts) {
        out->traffic = traffic_plan_create(&file->spec->traffic, row->dtype, place,
                                           out->n_ranks, &out->layout);
        if (!out->traffic)
            return error_set(err, ERROR_MEMORY, "traffic: out of memory");
    }
    out->call = (struct backend_call){.kind = row->collective,
                                      .dtype = row->dtype,
                                      .redop = row->redop,
                                      .root = row->root,
                                      .count = out->layout.count,
                                      .traffic = out->traffic};
    return 0;
}

void row_release(struct bench_row *row)
{
    traffic_plan_destroy(row->traffic);
    row->traffic = NULL;
}

bool row_fits(const struct bench_row *row, const struct row_memory *memory)
{
    return row->layout.size_bytes + memory->margin_bytes <= memory->share_bytes / 2;
}

bool row_must_skip(const struct bench_row *row, const struct row_memory *memory,
                   char reason[ROW_REASON_MAX])
{
    char size[UNITS_TEXT_MAX], share[UNITS_TEXT_MAX];
    const struct collective_facts *facts = collective_facts(row->row.collective);
    size_t element = dtype_size(row->row.dtype);
    int n = row->n_ranks;

    if (facts->needs_power_of_two && (n & (n - 1)) != 0) {
        snprintf(reason, ROW_REASON_MAX,
                 "%s needs a number of ranks that is a power of two, not %d", facts->name,
                 n);
        return true;
    }
    if (row->layout.count == 0) {
        snprintf(
            reason, ROW_REASON_MAX,
            "%llu bytes are too few for %d ranks: each part is a multiple of %zu bytes "
            "(%s: %zu bytes), which leaves 0 elements per rank",
            (unsigned long long)row->row.size, n,
            facts->shape != SHAPE_FLAT ? (size_t)16 : element, dtype_name(row->row.dtype),
            element);
        return true;
    }
    if (!row_fits(row, memory)) {
        snprintf(reason, ROW_REASON_MAX,
                 "needs 2 buffers of %s per rank, but the limit for both is %s: %s",
                 units_format_human(row->layout.size_bytes + memory->margin_bytes, size),
                 units_format_human(memory->share_bytes, share), memory->text);
        return true;
    }
    return false;
}

json_t *row_describe(const struct bench_row *row, const struct case_file *file,
                     const struct backend *backend)
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
    if (object && file->plan.cycles > 1)
        json_object_set_new(object, "cycle", json_integer(series->cycle));
    if (object && file->groups.n > 1)
        json_object_set_new(object, "group", json_integer(series->group));
    backend_mark_unreal(backend, object);
    return object;
}

static json_t *number_array(const double *values, long n)
{
    json_t *array = json_array();

    for (long i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

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

/* One rank in place moves no data, so a bandwidth computed from its time would be
 * meaningless. Exceptions: mulsum scales the data, and a simulation models a copy. */
static bool moves_data(const struct bench_row *row, const struct backend *backend)
{
    return row->n_ranks > 1 || !row->row.in_place || row->row.redop == REDOP_MULSUM ||
           backend->is_simulated;
}

json_t *row_result(const struct bench_row *row, const struct case_file *file,
                   const struct backend *backend, const struct measurement *figures,
                   json_t *wrong, json_t *errors)
{
    int n = row->n_ranks;
    double algbw = moves_data(row, backend)
                       ? collective_algbw_gbs(&row->layout, figures->mean_us / 1e6)
                       : 0;
    double factor = collective_bus_factor(row->row.collective, n);
    json_t *result = row_describe(row, file, backend);
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
    if (result && figures->skew_us >= 0)
        json_object_set_new(result, "skew_us", json_real(figures->skew_us));
    if (result && figures->n_blocks > 0)
        add_blocks(result, figures);
    return result;
}
