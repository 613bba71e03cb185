/* SPDX-License-Identifier: Apache-2.0 */
/* summary_json.c - writes a summary as the JSON in docs/reference/api.md */
#include "server/summary/summary_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

static void put_number(struct buf *out, const char *name, double value)
{
    if (isfinite(value))
        buf_printf(out, ",\"%s\":%.10g", name, value);
    else
        buf_printf(out, ",\"%s\":null", name);
}

/* Write a number, or null if it is negative. */
static void put_optional(struct buf *out, const char *name, int64_t value)
{
    if (value >= 0)
        buf_printf(out, ",\"%s\":%" PRId64, name, value);
    else
        buf_printf(out, ",\"%s\":null", name);
}

static void put_text(struct buf *out, const char *name, const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

    buf_printf(out, ",\"%s\":%s", name, quoted ? quoted : "null");
    free(quoted);
    json_decref(value);
}

/* Write the members of a key, each preceded by a comma. */
static int put_key(struct buf *out, const json_t *key)
{
    char *text = json_text(key);
    size_t len = text ? strlen(text) : 0;
    int result = text ? 0 : -1;

    if (len > 2)
        result = buf_append_str(out, ",") || buf_append(out, text + 1, len - 2) ? -1 : 0;
    free(text);
    return result;
}

/* Write [minimum, maximum] of each figure. */
static void put_spread(struct buf *out, const char *name,
                       const struct summary_spread *spread)
{
    buf_printf(out,
               ",\"%s\":{\"time_us\":[%.10g,%.10g],\"algbw_gbs\":[%.10g,%.10g],"
               "\"busbw_gbs\":[%.10g,%.10g]}",
               name, spread->time_us[0], spread->time_us[1], spread->algbw_gbs[0],
               spread->algbw_gbs[1], spread->busbw_gbs[0], spread->busbw_gbs[1]);
}

static int put_choice(struct buf *out, const struct summary_choice *choice)
{
    json_t *members = json_copy(choice->how);
    int result = -1;

    if (json_object_set_new(members, "rows", json_integer(choice->rows)) == 0)
        result = json_append(members, out);
    json_decref(members);
    return result;
}

/* Write NCCL's choices, most frequent first, and then the number of remaining rows. */
static int put_choices(struct buf *out, const struct summary_point *point)
{
    bool is_put[SUMMARY_CHOICES] = {false};
    uint32_t left = point->rows;
    int result = 0;

    if (point->n_choices == 0)
        return 0;
    buf_append_str(out, ",\"nccl\":[");
    for (uint32_t n = 0; n < point->n_choices && !result; n++) {
        uint32_t next = SUMMARY_CHOICES;
        for (uint32_t i = 0; i < point->n_choices; i++)
            if (!is_put[i] && (next == SUMMARY_CHOICES ||
                               point->choices[i].rows > point->choices[next].rows))
                next = i;
        is_put[next] = true;
        left -= point->choices[next].rows;
        result =
            (n > 0 && buf_append_str(out, ",")) || put_choice(out, &point->choices[next]);
    }
    if (left > 0)
        buf_printf(out, ",{\"rows\":%u}", left);
    return result || buf_append_str(out, "]") ? -1 : 0;
}

static int put_point(struct buf *out, const struct summary_point *point)
{
    buf_printf(out,
               "{\"size\":%" PRId64 ",\"count\":%" PRId64 ",\"row\":%" PRId64
               ",\"event\":%" PRId64 ",\"rows\":%u,\"skipped\":%u",
               point->size, point->count, point->row, point->event, point->rows,
               point->skipped);
    put_text(out, "reason", point->reason);
    put_optional(out, "wrong", point->wrong);
    if (point->rows > 0) {
        put_number(out, "time_us", point->time_us);
        put_number(out, "algbw_gbs", point->algbw_gbs);
        put_number(out, "busbw_gbs", point->busbw_gbs);
        put_spread(out, "rank_spread", &point->ranks);
        put_spread(out, "repeat_spread", &point->repeats);
        buf_printf(out, ",\"noisy\":%u", point->noisy);
        if (point->has_interval)
            put_spread(out, "interval", &point->interval);
        if (put_choices(out, point))
            return -1;
    }
    return buf_append_str(out, "}");
}

bool summary_series_changed(const struct summary_series *series, int64_t since)
{
    for (size_t i = 0; i < series->n_points; i++)
        if (series->points[i].latest > since)
            return true;
    return false;
}

static int put_points(struct buf *out, const struct summary_series *series, int64_t since)
{
    const char *comma = "";

    for (size_t i = 0; i < series->n_points; i++) {
        if (series->points[i].latest <= since)
            continue;
        if (buf_append_str(out, comma) || put_point(out, &series->points[i]))
            return -1;
        comma = ",";
    }
    return 0;
}

static int put_series(struct buf *out, const struct summary_series *series, int64_t since)
{
    buf_printf(out, "{\"combination\":%d", series->combination);
    put_optional(out, "case", series->case_no);
    put_optional(out, "cycle", series->cycle);
    if (put_key(out, series->key))
        return -1;
    buf_printf(out, ",\"rows\":%" PRIu64 ",\"skipped\":%" PRIu64, series->rows,
               series->skipped);
    put_optional(out, "wrong", series->wrong);
    buf_printf(out, ",\"points_total\":%zu,\"points\":[", series->points_total);
    return put_points(out, series, since) || buf_append_str(out, "]}") ? -1 : 0;
}

static int put_value(struct buf *out, const struct summary_value *value, bool has_x)
{
    if (isfinite(value->value))
        buf_printf(out, "[%" PRIu64 ",%.10g", value->index, value->value);
    else
        buf_printf(out, "[%" PRIu64 ",null", value->index);
    if (has_x)
        buf_printf(out, ",%.10g", value->x);
    return buf_append_str(out, "]");
}

static int put_figure(struct buf *out, const struct summary_figure *figure)
{
    bool has_x = json_is_string(json_object_get(figure->key, "x"));
    int result = 0;

    buf_printf(out, "{\"combination\":%d,\"case\":%d", figure->combination,
               figure->case_no);
    put_optional(out, "rank", figure->rank);
    if (put_key(out, figure->key))
        return -1;
    buf_printf(out, ",\"count\":%" PRIu64, figure->count);
    put_number(out, "mean", figure->mean);
    put_number(out, "median", figure->median);
    put_number(out, "min", figure->min);
    put_number(out, "max", figure->max);
    put_number(out, "last", figure->last);
    buf_append_str(out, ",\"values\":[");
    for (size_t i = 0; i < figure->n_values && !result; i++) {
        if (i > 0)
            buf_append_str(out, ",");
        result = put_value(out, &figure->values[i], has_x);
    }
    return result || buf_append_str(out, "]}") ? -1 : 0;
}

int summary_json_write(const struct summary *summary, int64_t since, struct buf *out)
{
    const char *comma = "";
    int result = 0;

    buf_printf(out, "\"last_event\":%" PRId64 ",\"results\":%" PRIu64 ",\"series\":[",
               summary->last_event, summary->results);
    for (size_t i = 0; i < summary->n_series && !result; i++) {
        if (!summary_series_changed(&summary->series[i], since))
            continue;
        buf_append_str(out, comma);
        result = put_series(out, &summary->series[i], since);
        comma = ",\n";
    }
    buf_printf(out,
               "],\"series_total\":%zu,\"points\":%zu,\"points_total\":%zu,"
               "\"figures\":[",
               summary->series_total, summary->points, summary->points_total);
    comma = "";
    for (size_t i = 0; i < summary->n_figures && !result; i++) {
        if (summary->figures[i].latest <= since)
            continue;
        buf_append_str(out, comma);
        result = put_figure(out, &summary->figures[i]);
        comma = ",\n";
    }
    buf_printf(out, "],\"figures_total\":%zu,\"messages\":", summary->figures_total);
    if (buf_append_str(out, summary->messages ? summary->messages : "[]") ||
        buf_append_str(out, ",\"recent\":") ||
        buf_append_str(out, summary->recent ? summary->recent : "[]"))
        return -1;
    return result;
}
