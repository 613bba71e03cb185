/* trend_text.c - a page of a trend for a terminal and for a spreadsheet */
#include "server/render/trend_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/render/columns.h"
#include "server/render/csv.h"

#define CELL_MAX ((size_t)64 << 10)

static const struct column columns[] = {
    {"CREATED", "created", NULL, COLUMN_TEXT},
    {"RUN", "run", NULL, COLUMN_TEXT},
    {"CASES", "cases", NULL, COLUMN_NUMBER},
    {"VALUE", "value", NULL, COLUMN_NUMBER},
    {"LEAST", "least", NULL, COLUMN_NUMBER},
    {"MOST", "most", NULL, COLUMN_NUMBER},
    {"CHANGE", "shown_change", NULL, COLUMN_NUMBER},
    {"SERIES", "series", NULL, COLUMN_NUMBER},
    {"BACKEND", "like.backend", NULL, COLUMN_TEXT},
    {"RANKS", "like.world_size", NULL, COLUMN_NUMBER},
    {"NCCL", "versions.nccl", NULL, COLUMN_TEXT},
    {"RINGBENCH", "versions.ringbench", NULL, COLUMN_TEXT},
    {"ON", "like.nodes", "like.hardware", COLUMN_TEXT},
    {"NAME", "name", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

/* Whether the field is the figure's, the same in all lines. */
static const struct {
    const char *name, *path;
    bool is_figures;
} fields[] = {
    {"run", "run", false},
    {"name", "name", false},
    {"state", "state", false},
    {"created", "created", false},
    {"collective", "collective", true},
    {"dtype", "dtype", true},
    {"in_place", "in_place", true},
    {"band", "band", true},
    {"figure", "name", true},
    {"value", "value", false},
    {"low", "low", false},
    {"high", "high", false},
    {"least", "least", false},
    {"most", "most", false},
    {"cases", "cases", false},
    {"change", "change", false},
    {"series", "series", false},
    {"backend", "like.backend", false},
    {"world_size", "like.world_size", false},
    {"nodes", "like.nodes", false},
    {"hardware", "like.hardware", false},
    {"redop", "like.series.redop", false},
    {"nccl", "versions.nccl", false},
    {"cuda_driver", "versions.cuda_driver", false},
    {"cuda_runtime", "versions.cuda_runtime", false},
    {"kernel", "versions.kernel", false},
    {"ringbench", "versions.ringbench", false},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* ---- Text ---- */

static json_t *shown_points(const json_t *answer)
{
    const json_t *points = json_object_get(answer, "points");
    json_t *out = json_array();

    for (size_t i = 0; i < json_array_size(points); i++) {
        json_t *point = json_copy(json_array_get(points, i));
        json_t *change = json_object_get(point, "change");
        double percent = 100.0 * json_number_value(change);

        if (fabs(percent) < 0.05)
            percent = 0.0; /* no "-0.0" */
        if (json_is_number(change))
            json_object_set_new(point, "shown_change", json_sprintf("%+.1f %%", percent));
        json_array_append_new(out, point);
    }
    return out;
}

static void put_figure(const json_t *answer, struct buf *out)
{
    const json_t *figure = json_object_get(answer, "figure");

    buf_printf(out, "# %s %s, %s, band %s: %s in %s, median over a run's cases\n",
               json_get_str(figure, "collective", ""), json_get_str(figure, "dtype", ""),
               json_get_bool(figure, "in_place", false) ? "in place" : "out of place",
               json_get_str(figure, "band", ""), json_get_str(figure, "name", ""),
               json_get_str(figure, "unit", ""));
}

static void put_verdicts(const json_t *answer, struct buf *out)
{
    const json_t *changes = json_object_get(answer, "changes");

    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *item = json_array_get(changes, i);
        const json_t *verdict = json_object_get(item, "verdict");
        const char *sentence = json_get_str(verdict, "sentence", "");

        buf_printf(out, "# series %lld: ", (long long)json_get_int(item, "series", 0));
        clean_text_show(out, sentence, strlen(sentence));
        buf_append_str(out, "\n");
    }
}

int trend_text_write(const json_t *answer, struct buf *out)
{
    const char *next = json_get_str(answer, "next", NULL);
    struct columns_layout layout = {0};
    json_t *points = shown_points(answer);
    int result;

    put_figure(answer, out);
    put_verdicts(answer, out);
    result = columns_append(columns, points, &layout, out);
    if (next)
        result |= buf_printf(out, "# there is more: cursor=%s\n", next);
    json_decref(points);
    return result;
}

/* ---- CSV ---- */

/* Of an object the names. */
static void put_value(json_t *value, struct buf *cell)
{
    const char *name;
    json_t *member;

    if (json_is_string(value))
        buf_append_str(cell, json_string_value(value));
    else if (json_is_integer(value))
        buf_printf(cell, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        buf_printf(cell, "%.10g", json_real_value(value));
    else if (json_is_boolean(value))
        buf_append_str(cell, json_is_true(value) ? "true" : "false");
    json_object_foreach (value, name, member)
        buf_printf(cell, "%s%s", cell->len ? ";" : "", name);
}

static int put_line(const json_t *figure, const json_t *point, struct buf *out)
{
    struct buf cell;
    int result = 0;

    buf_init(&cell, CELL_MAX);
    for (size_t i = 0; i < FIELDS && !result; i++) {
        buf_clear(&cell);
        put_value(columns_value(fields[i].is_figures ? figure : point, fields[i].path),
                  &cell);
        result = i > 0 ? buf_append_str(out, ",") : 0;
        csv_field(cell.len ? cell.data : "", out);
    }
    buf_release(&cell);
    return result | buf_append_str(out, "\r\n");
}

int trend_csv_write(const json_t *answer, struct buf *out)
{
    const json_t *figure = json_object_get(answer, "figure");
    const json_t *points = json_object_get(answer, "points");
    int result = 0;

    for (size_t i = 0; i < FIELDS; i++)
        result |= buf_printf(out, "%s%s", i > 0 ? "," : "", fields[i].name);
    result |= buf_append_str(out, "\r\n");
    for (size_t i = 0; i < json_array_size(points) && !result; i++)
        result = put_line(figure, json_array_get(points, i), out);
    return result;
}
