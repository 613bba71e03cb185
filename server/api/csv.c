/* csv.c - result rows as RFC 4180 */
#include "server/api/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX ((size_t)65536)

static const char *const measurement_columns[] = {
    "case",      "attempt",    "row",       "series",      "collective",
    "dtype",     "redop",      "root",      "in_place",    "size",
    "count",     "iters",      "time_us",   "time_min_us", "time_max_us",
    "algbw_gbs", "busbw_gbs",  "first_us",  "wrong",       "skipped",
    "times_us",  "samples_us", "simulated", "emulated",    NULL,
};

static const char *const figure_columns[] = {
    "case", "attempt", "metric", "value", "unit", "higher_is_better",
    "rank", "labels",  NULL,
};

static const char *const *const columns_of[] = {measurement_columns, figure_columns};

void csv_header(enum csv_kind kind, struct buf *out)
{
    const char *const *columns = columns_of[kind];

    for (size_t i = 0; columns[i]; i++)
        buf_printf(out, "%s%s", i ? "," : "", columns[i]);
    buf_append_str(out, "\r\n");
}

void csv_field(const char *text, struct buf *out)
{
    if (!strpbrk(text, ",\"\r\n")) {
        buf_append_str(out, text);
        return;
    }
    buf_append_str(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            buf_append_str(out, "\"");
        buf_append(out, p, 1);
    }
    buf_append_str(out, "\"");
}

/* The shortest text that reads back as the same number. */
static void put_real(double value, struct buf *out)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (!(fabs(strtod(text, NULL) - value) > 0.0))
            break;
    }
    buf_append_str(out, text);
}

static void put_value(json_t *value, struct buf *out);

/* "NAME=VALUE;NAME=VALUE" as one field. */
static void put_members(json_t *object, struct buf *out)
{
    struct buf text;
    const char *name;
    json_t *value;

    buf_init(&text, MEMBERS_MAX);
    json_object_foreach(object, name, value)
    {
        buf_printf(&text, "%s%s=", text.len ? ";" : "", name);
        if (json_is_string(value))
            buf_append_str(&text, json_string_value(value));
        else
            put_value(value, &text);
    }
    csv_field(text.data ? text.data : "", out);
    buf_release(&text);
}

static void put_value(json_t *value, struct buf *out)
{
    if (json_is_integer(value)) {
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        put_real(json_real_value(value), out);
    } else if (json_is_boolean(value)) {
        buf_append_str(out, json_is_true(value) ? "true" : "false");
    } else if (json_is_string(value)) {
        csv_field(json_string_value(value), out);
    } else if (json_is_object(value)) {
        put_members(value, out);
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i)
                buf_append_str(out, ";");
            put_value(json_array_get(value, i), out);
        }
    }
}

void csv_row(enum csv_kind kind, const json_t *row, struct buf *out)
{
    const char *const *columns = columns_of[kind];

    for (size_t i = 0; columns[i]; i++) {
        if (i)
            buf_append_str(out, ",");
        put_value(json_object_get(row, columns[i]), out);
    }
    buf_append_str(out, "\r\n");
}
