/* SPDX-License-Identifier: Apache-2.0 */
/* trend_text.c - writes one page of a trend in the requested output format */
#include "server/render/trend_text.h"

#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/render/columns.h"

static const struct column columns[] = {
    COLUMN("CREATED", "created"),
    COLUMN("RUN", "run"),
    COLUMN(NULL, "state"),
    COLUMN(NULL, "figure.collective", .name = "collective"),
    COLUMN(NULL, "figure.dtype", .name = "dtype"),
    COLUMN(NULL, "figure.in_place", .name = "in_place"),
    COLUMN(NULL, "figure.band", .name = "band"),
    COLUMN(NULL, "figure.name", .name = "figure"),
    COLUMN("CASES", "cases", .form = COLUMN_NUMBER),
    COLUMN("VALUE", "value", .form = COLUMN_NUMBER),
    COLUMN(NULL, "low"),
    COLUMN(NULL, "high"),
    COLUMN("LEAST", "least", .form = COLUMN_NUMBER),
    COLUMN("MOST", "most", .form = COLUMN_NUMBER),
    COLUMN("CHANGE", "change", .form = COLUMN_PERCENT),
    COLUMN("SERIES", "series", .form = COLUMN_NUMBER),
    COLUMN("BACKEND", "like.backend", .name = "backend"),
    COLUMN("RANKS", "like.world_size", .form = COLUMN_NUMBER, .name = "world_size"),
    COLUMN(NULL, "like.series.redop", .name = "redop"),
    COLUMN("NCCL", "versions.nccl", .name = "nccl"),
    COLUMN(NULL, "versions.cuda_driver", .name = "cuda_driver"),
    COLUMN(NULL, "versions.cuda_runtime", .name = "cuda_runtime"),
    COLUMN(NULL, "versions.kernel", .name = "kernel"),
    COLUMN("RINGBENCH", "versions.ringbench", .name = "ringbench"),
    COLUMN("ON", "like.nodes", .otherwise = "like.hardware", .name = ""),
    COLUMN(NULL, "like.nodes", .name = "nodes"),
    COLUMN(NULL, "like.hardware", .name = "hardware"),
    COLUMN("NAME", "name"),
    COLUMNS_END,
};

static void put_points(const json_t *answer, enum form form, struct buf *out)
{
    struct columns_layout layout = {0};
    json_t *points = json_array(), *point;
    size_t i;

    json_array_foreach (json_object_get(answer, "points"), i, point) {
        json_t *row = json_copy(point);

        json_object_set(row, "figure", json_object_get(answer, "figure"));
        json_array_append_new(points, row);
    }
    columns_write(columns, points, form, &layout, out);
    json_decref(points);
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

static void write_text(const json_t *answer, struct buf *out)
{
    const char *next = json_get_str(answer, "next", NULL);

    put_figure(answer, out);
    put_verdicts(answer, out);
    put_points(answer, FORM_TEXT, out);
    if (next)
        buf_printf(out, "# there is more: cursor=%s\n", next);
}

int trend_write(const json_t *answer, enum form form, struct buf *out)
{
    struct columns_layout layout = {0};

    if (form == FORM_JSON)
        json_line_append(answer, out);
    else if (form == FORM_TEXT)
        write_text(answer, out);
    else if (form == FORM_NDJSON)
        columns_write(columns, json_object_get(answer, "points"), form, &layout, out);
    else
        put_points(answer, form, out);
    return out->is_cut ? -1 : 0;
}
