/* csv.c - result rows as RFC 4180 */
#include "server/api/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "case",    "attempt",     "row",         "series",     "collective", "dtype",
    "redop",   "root",        "in_place",    "size",       "count",      "iters",
    "time_us", "time_min_us", "time_max_us", "algbw_gbs",  "busbw_gbs",  "first_us",
    "wrong",   "skipped",     "times_us",    "samples_us",
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

void csv_header(struct buf *out)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
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

static void put_value(const json_t *value, struct buf *out)
{
    if (json_is_integer(value)) {
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        put_real(json_real_value(value), out);
    } else if (json_is_boolean(value)) {
        buf_append_str(out, json_is_true(value) ? "true" : "false");
    } else if (json_is_string(value)) {
        csv_field(json_string_value(value), out);
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i)
                buf_append_str(out, ";");
            put_value(json_array_get(value, i), out);
        }
    }
}

void csv_row(const json_t *row, struct buf *out)
{
    for (size_t i = 0; i < N_COLUMNS; i++) {
        if (i)
            buf_append_str(out, ",");
        put_value(json_object_get(row, columns[i]), out);
    }
    buf_append_str(out, "\r\n");
}
