/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - writes result rows in the columns of nccl-tests */
#include "server/render/table.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/result/row_fields.h"
#include "common/spec/collective.h"
#include "common/spec/run_matrix.h"
#include "common/spec/run_spec.h"

#define ENV_TEXT_MAX 300
/* Maximum number of rows held back for cases that run at the same time */
#define HELD_MAX 4096

static const char columns_heading[] =
    "#                                                              out-of-place         "
    "              in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw  "
    "#wrong     time   algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)      "
    "       (us)  (GB/s)  (GB/s)\n";

static const char *type_name(const char *name)
{
    int type = dtype_lookup(name);

    return type < 0 ? name : dtype_name_nccl((enum dtype)type);
}

void table_init(struct table *table, const json_t *spec, bool names_cases)
{
    const char *all = run_pattern_name(PATTERN_ALL);

    memset(table, 0, sizeof(*table));
    table->is_paired = !json_is_boolean(json_object_get(spec, "in_place"));
    table->names_cases = names_cases;
    if (strcmp(json_get_str(spec, "pattern", all), all) != 0)
        table->held = json_object();
}

void table_name_cases(struct table *table, json_t *cases)
{
    table->cases = json_incref(cases);
}

void table_release(struct table *table)
{
    json_decref(table->cases);
    table->cases = NULL;
    json_decref(table->held);
    json_decref(table->pending);
    json_decref(table->heading_row);
    table->held = table->pending = NULL;
    table->heading_row = NULL;
}

const char *table_number(double value, int width, char out[16])
{
    for (int decimals = 2; decimals >= 0; decimals--)
        if (snprintf(out, 16, "%*.*f", width, decimals, value) <= width)
            return out;
    snprintf(out, 16, width >= 7 ? "%*.1e" : "%*.0e", width, value);
    return out;
}

const char *table_unreal(const json_t *row)
{
    if (json_get_bool(row, "simulated", false))
        return "simulated";
    return json_get_bool(row, "emulated", false) ? "emulated" : NULL;
}

/* Append "case 1 (NCCL_ALGO=Ring)". */
static void put_case(const struct table *table, const json_t *row, struct buf *out)
{
    int64_t number = json_get_int(row, "case", 0);
    json_t *item = number < 0 ? NULL : json_array_get(table->cases, (size_t)number);
    char env[ENV_TEXT_MAX];

    buf_printf(out, "case %lld%s", (long long)number,
               run_matrix_case_text(item, env, sizeof(env)));
}

/* Return true if two rows belong under the same heading. The rows' cases are compared
 * only if headings name them. */
static bool same_heading(const struct table *table, const json_t *a, const json_t *b)
{
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    for (size_t i = 0; i < n; i++) {
        const json_t *x, *y;

        if (!(fields[i].use & IN_HEADING) ||
            (!table->names_cases && strcmp(fields[i].name, "case") == 0))
            continue;
        x = json_object_get(a, fields[i].name);
        y = json_object_get(b, fields[i].name);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

/* Append unusual properties that all rows under a heading share. */
static void put_circumstances(const json_t *row, struct buf *out)
{
    int64_t cycle = json_get_int(row, "cycle", -1);
    int64_t sharers = json_get_int(row, "ranks_per_gpu", 1);

    if (cycle >= 0)
        buf_printf(out, ", cycle %lld", (long long)cycle);
    if (sharers > 1)
        buf_printf(out, ", %lld ranks per GPU: not a measurement of a fabric",
                   (long long)sharers);
}

static void put_heading(struct table *table, json_t *row, struct buf *out)
{
    const char *redop = json_get_str(row, "redop", "none");
    int64_t root = json_get_int(row, "root", -1);
    int64_t attempt = json_get_int(row, "attempt", 1);

    if (table->heading_row && same_heading(table, table->heading_row, row))
        return;
    json_decref(table->heading_row);
    table->heading_row = json_incref(row);
    buf_append_str(out, "#\n# ");
    if (table->names_cases) {
        put_case(table, row, out);
        buf_append_str(out, ", ");
    }
    if (attempt > 1)
        buf_printf(out, "attempt %lld, ", (long long)attempt);
    buf_printf(out, "%s %s", json_get_str(row, "collective", "?"),
               json_get_str(row, "dtype", "?"));
    if (strcmp(redop, "none") != 0)
        buf_printf(out, " %s", redop);
    if (root >= 0)
        buf_printf(out, ", root %lld", (long long)root);
    put_circumstances(row, out);
    if (table_unreal(row))
        buf_printf(out, ", %s: these are not measurements", table_unreal(row));
    buf_append_str(out, "\n");
    buf_append_str(out, columns_heading);
}

/* The mark '~' for noise replaces a space, so the columns still align with those of
 * nccl-tests. */
static void put_time(struct table *table, const json_t *row, struct buf *out)
{
    char text[2 + 16] = "  ";

    table_number(json_get_num(row, "time_us", 0.0), 7, text + 2);
    if (json_get_bool(row, "noisy", false)) {
        text[strspn(text, " ") - 1] = '~';
        table->noisy_halves++;
    }
    buf_append_str(out, text);
}

static void put_half(struct table *table, const json_t *row, struct buf *out)
{
    char algbw[16], busbw[16], wrong[16] = "N/A";
    const json_t *count = json_object_get(row, "wrong");

    if (!row) {
        buf_printf(out, "  %7s  %6s  %6s  %6s", "-", "-", "-", "-");
        return;
    }
    if (json_is_integer(count)) {
        snprintf(wrong, sizeof(wrong), "%6g", (double)json_integer_value(count));
        table->checked_halves++;
        table->wrong_halves += json_integer_value(count) > 0;
    }
    table->halves++;
    table->busbw_sum += json_get_num(row, "busbw_gbs", 0.0);
    if (json_object_get(row, "enqueue_us")) {
        table->enqueue_us_sum += json_get_num(row, "enqueue_us", 0.0);
        table->enqueued_us_sum += json_get_num(row, "time_us", 0.0);
        table->enqueued_halves++;
    }
    put_time(table, row, out);
    buf_printf(out, "  %6s  %6s  %6s",
               table_number(json_get_num(row, "algbw_gbs", 0.0), 6, algbw),
               table_number(json_get_num(row, "busbw_gbs", 0.0), 6, busbw), wrong);
}

static void put_skipped(const json_t *row, const char *placement, const char *reason,
                        struct buf *out)
{
    buf_printf(out, "# %10lld  skipped%s", (long long)json_get_int(row, "size", 0),
               placement);
    if (json_object_get(row, "group"))
        buf_printf(out, " in group %lld", (long long)json_get_int(row, "group", 0));
    buf_printf(out, ": %s\n", reason);
}

static const char *skip_reason(const json_t *row)
{
    return row ? json_get_str(row, "skipped", NULL) : NULL;
}

/* Return true if the row's element count is 0. nccl-tests includes such a row in its
 * average with a bandwidth of 0. */
static bool is_empty(const json_t *row)
{
    return skip_reason(row) && json_get_int(row, "count", -1) == 0;
}

/* Append NCCL's choice of algorithm, protocol and channels after nccl-tests' columns,
 * such as "RING LL128 16 channels". */
static void put_choice(const json_t *choice, struct buf *out)
{
    int64_t channels = json_get_int(choice, "channels", 0);
    const char *proto = json_get_str(choice, "proto", NULL);

    if (!json_object_get(choice, "algo"))
        return;
    buf_printf(out, "  %s", json_get_str(choice, "algo", ""));
    if (proto)
        buf_printf(out, " %s", proto);
    if (channels > 0)
        buf_printf(out, " %lld channel%s", (long long)channels, channels == 1 ? "" : "s");
    if (json_get_bool(choice, "ranks_differ", false))
        buf_append_str(out, ", RANKS DIFFER");
    if (json_get_bool(choice, "unrequested", false))
        buf_append_str(out, ", NOT REQUESTED");
}

/* Append the number of calls and blocks that a row was measured with, such as "160 calls
 * in 8 blocks". */
static void put_blocks(const json_t *row, struct buf *out)
{
    long long blocks = json_get_int(row, "blocks", 0);

    if (blocks > 0)
        buf_printf(out, "  %lld calls in %lld block%s",
                   (long long)json_get_int(row, "iters", 0), blocks,
                   blocks == 1 ? "" : "s");
}

/* Append the line for one size. One of the two rows may be NULL. */
static void put_pair(struct table *table, json_t *out_of_place, json_t *in_place,
                     struct buf *out)
{
    const char *reason = skip_reason(out_of_place);
    const char *reason_in = skip_reason(in_place);
    json_t *row = out_of_place ? out_of_place : in_place;

    table->empty_halves += is_empty(out_of_place);
    table->empty_halves += is_empty(in_place);
    put_heading(table, row, out);
    if (reason && reason_in && strcmp(reason, reason_in) == 0) {
        put_skipped(row, "", reason, out);
        return;
    }
    if (reason)
        put_skipped(out_of_place, " out-of-place", reason, out);
    if (reason_in)
        put_skipped(in_place, " in-place", reason_in, out);
    if (reason)
        out_of_place = NULL;
    if (reason_in)
        in_place = NULL;
    if (!out_of_place && !in_place)
        return;
    buf_printf(
        out, "%12lld  %12lld  %8s  %6s  %6lld", (long long)json_get_int(row, "size", 0),
        (long long)json_get_int(row, "count", 0),
        type_name(json_get_str(row, "dtype", "?")), json_get_str(row, "redop", "none"),
        (long long)json_get_int(row, "root", -1));
    put_half(table, out_of_place, out);
    put_half(table, in_place, out);
    if (json_object_get(row, "group"))
        buf_printf(out, "  %5lld", (long long)json_get_int(row, "group", 0));
    row = out_of_place ? out_of_place : in_place;
    put_blocks(row, out);
    put_choice(json_object_get(row, "nccl"), out);
    buf_append_str(out, "\n");
}

static int64_t group_of(const json_t *row)
{
    return json_get_int(row, "group", 0);
}

static bool is_pair(const struct table *table, const json_t *out_of_place,
                    const json_t *in_place)
{
    return json_get_int(out_of_place, "size", -1) == json_get_int(in_place, "size", -2) &&
           group_of(out_of_place) == group_of(in_place) &&
           same_heading(table, out_of_place, in_place);
}

/* Print an in-place row together with the first pending row if the two are a pair. */
static bool take_pair(struct table *table, json_t *row, struct buf *out)
{
    json_t *first = json_array_get(table->pending, 0);

    if (!first || !is_pair(table, first, row))
        return false;
    put_pair(table, first, row, out);
    json_array_remove(table->pending, 0);
    return true;
}

/* Queue an out-of-place row after the rows of lower groups in the same series. */
static void put_aside(struct table *table, json_t *row, struct buf *out)
{
    size_t n = json_array_size(table->pending);
    const json_t *last = n ? json_array_get(table->pending, n - 1) : NULL;

    if (last && (group_of(row) <= group_of(last) || !same_heading(table, last, row)))
        table_flush(table, out);
    if (!table->pending)
        table->pending = json_array();
    json_array_append(table->pending, row);
}

static void put_labels(json_t *labels, struct buf *out)
{
    const char *name;
    json_t *value;

    json_object_foreach (labels, name, value)
        if (json_is_string(value))
            buf_printf(out, "  %s=%s", name, json_string_value(value));
        else if (json_is_boolean(value))
            buf_printf(out, "  %s=%s", name, json_is_true(value) ? "true" : "false");
        else
            buf_printf(out, "  %s=%.12g", name, json_number_value(value));
}

/* Append a line for a figure that a program printed. */
static void put_figure(struct table *table, json_t *row, struct buf *out)
{
    const json_t *rank = json_object_get(row, "rank");
    const char *reason = skip_reason(row);

    if (!table->heading_row || !same_heading(table, table->heading_row, row)) {
        json_decref(table->heading_row);
        table->heading_row = json_incref(row);
        buf_append_str(out, "#\n");
        if (table->names_cases) {
            buf_append_str(out, "# ");
            put_case(table, row, out);
            buf_append_str(out, "\n");
        }
        if (table_unreal(row))
            buf_printf(out, "# %s: these are not measurements\n", table_unreal(row));
        buf_printf(out, "# %-26s %14s  %-12s %4s\n", "metric", "value", "unit", "rank");
    }
    if (reason) {
        buf_printf(out, "# %s skipped: %s\n", json_get_str(row, "metric", "?"), reason);
        return;
    }
    buf_printf(out, "%-28s %14.6g  %-12s ", json_get_str(row, "metric", "?"),
               json_get_num(row, "value", 0.0), json_get_str(row, "unit", ""));
    if (rank)
        buf_printf(out, "%4lld", (long long)json_integer_value(rank));
    else
        buf_append_str(out, " all");
    put_labels(json_object_get(row, "labels"), out);
    buf_append_str(out, "\n");
}

static void take_row(struct table *table, json_t *row, struct buf *out)
{
    bool is_in_place = json_get_bool(row, "in_place", false);

    if (json_object_get(row, "metric")) {
        table_flush(table, out);
        put_figure(table, row, out);
        return;
    }
    if (is_in_place && take_pair(table, row, out))
        return;
    if (!is_in_place && table->is_paired) {
        put_aside(table, row, out);
        return;
    }
    table_flush(table, out);
    put_pair(table, is_in_place ? NULL : row, is_in_place ? row : NULL, out);
}

static void put_held(struct table *table, json_t *rows, struct buf *out)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        take_row(table, json_array_get(rows, i), out);
    table_flush(table, out);
    table->n_held -= json_array_size(rows);
}

static void put_all_held(struct table *table, struct buf *out)
{
    const char *key;
    json_t *rows;

    json_object_foreach (table->held, key, rows)
        put_held(table, rows, out);
    json_object_clear(table->held);
}

static const char *case_key(int64_t case_no, char key[24])
{
    snprintf(key, 24, "%lld", (long long)case_no);
    return key;
}

static void hold(struct table *table, json_t *row, struct buf *out)
{
    char key[24];
    json_t *rows;

    case_key(json_get_int(row, "case", 0), key);
    rows = json_object_get(table->held, key);
    if (!rows) {
        rows = json_array();
        json_object_set_new(table->held, key, rows);
    }
    if (json_array_append(rows, row) == 0 && ++table->n_held >= HELD_MAX)
        put_all_held(table, out);
}

void table_row(struct table *table, json_t *row, struct buf *out)
{
    json_t *shown = clean_text_shown(row, false);

    if (table->held)
        hold(table, shown, out);
    else
        take_row(table, shown, out);
    json_decref(shown);
}

void table_end_case(struct table *table, int64_t case_no, struct buf *out)
{
    char key[24];

    table_flush(table, out);
    put_held(table, json_object_get(table->held, case_key(case_no, key)), out);
    json_object_del(table->held, key);
}

void table_flush(struct table *table, struct buf *out)
{
    for (size_t i = 0; i < json_array_size(table->pending); i++)
        put_pair(table, json_array_get(table->pending, i), NULL, out);
    json_array_clear(table->pending);
}

void table_end(struct table *table, struct buf *out)
{
    table_flush(table, out);
    put_all_held(table, out);
    if (table->halves == 0)
        return;
    if (table->checked_halves > 0)
        buf_printf(out, "# %-20s : %llu %s\n", "Out of bounds values",
                   (unsigned long long)table->wrong_halves,
                   table->wrong_halves ? "FAILED" : "OK");
    if (table->noisy_halves > 0)
        buf_printf(out,
                   "# %-20s : %llu of %llu times are less certain than requested: use "
                   "more repeats or an idle machine\n",
                   "Noisy (~)", (unsigned long long)table->noisy_halves,
                   (unsigned long long)table->halves);
    /* Blocking calls spend the whole time in the enqueue, so an average would be
     * meaningless. */
    if (table->enqueue_us_sum > 0 && table->enqueue_us_sum < 0.9 * table->enqueued_us_sum)
        buf_printf(out, "# %-20s : %.2f us\n", "Avg enqueue time",
                   table->enqueue_us_sum / (double)table->enqueued_halves);
    buf_printf(out, "# %-20s : %g\n", "Avg bus bandwidth",
               table->busbw_sum / (double)(table->halves + table->empty_halves));
}
