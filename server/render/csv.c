/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - writes result rows as RFC 4180 CSV */
#include "server/render/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/result/row_fields.h"

#define MEMBERS_MAX ((size_t)1 << 20) /* maximum size of a field in bytes */

/* Iterate over the column names: first the columns of rows, then those that only figures
 * have. */
static const char *next_column(const struct csv *csv, size_t *at)
{
    const struct row_field *fields;
    size_t n;

    fields = row_fields(&n);
    while (*at < 2 * n) {
        const struct row_field *field = &fields[*at < n ? *at : *at - n];
        bool is_of_rows = csv->has_rows && field->use & IN_CSV;
        bool is_of_figures = csv->has_figures && field->use & IN_FIGURE_CSV;

        if (field->use & KEPT_APART && !csv->has_samples)
            is_of_rows = false;
        if ((*at)++ < n ? is_of_rows : is_of_figures && !is_of_rows)
            return field->name;
    }
    return NULL;
}

void csv_init(struct csv *csv, const json_t *run)
{
    const json_t *spec = json_object_get(run, "spec");
    bool is_program = json_object_get(spec, "program") != NULL;

    csv->has_rows = !is_program;
    csv->has_samples = false;
    csv->has_figures = is_program;
    csv->matrix = json_incref(json_object_get(spec, "matrix"));
    csv->cases = json_incref(json_object_get(run, "cases"));
}

void csv_release(struct csv *csv)
{
    json_decref(csv->matrix);
    json_decref(csv->cases);
    csv->matrix = csv->cases = NULL;
}

void csv_header(const struct csv *csv, struct buf *out)
{
    const char *name;
    json_t *values;
    size_t i = 0;

    while ((name = next_column(csv, &i)) != NULL)
        buf_printf(out, "%s,", name);
    buf_append_str(out, "repeat");
    json_object_foreach (csv->matrix, name, values) {
        buf_append_str(out, ",");
        csv_field(name, out);
    }
    buf_append_str(out, "\r\n");
}

/* Return true if a spreadsheet would evaluate the text, because it starts like a formula
 * and is not a number. */
static bool is_formula(const char *text)
{
    char *end;

    if (!*text || !strchr("=@+-\t\r", *text))
        return false;
    strtod(text, &end);
    return end == text || *end != '\0';
}

void csv_field(const char *text, struct buf *out)
{
    const char *mark = is_formula(text) ? "'" : "";

    if (!strpbrk(text, ",\"\r\n")) {
        buf_printf(out, "%s%s", mark, text);
        return;
    }
    buf_printf(out, "\"%s", mark);
    for (const char *p = text; *p; p++)
        buf_append(out, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    buf_append_str(out, "\"");
}

/* Append a value without quotes. Join an array's members by semicolons, and write an
 * object's members as NAME=VALUE. An object in an array is represented by its member
 * "name". */
static void put_plain(const json_t *value, struct buf *out)
{
    const char *name, *separator = "";
    char number[UNITS_REAL_MAX];
    json_t *member;
    size_t i;

    if (json_is_integer(value))
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        buf_append_str(out, units_real_text(json_real_value(value), number));
    else if (json_is_boolean(value))
        buf_append_str(out, json_is_true(value) ? "true" : "false");
    else if (json_is_string(value))
        buf_append_str(out, json_string_value(value));
    json_array_foreach (value, i, member) {
        buf_append_str(out, separator);
        put_plain(json_is_object(member) ? json_object_get(member, "name") : member, out);
        separator = ";";
    }
    json_object_foreach ((json_t *)(uintptr_t)value, name, member) {
        buf_printf(out, "%s%s=", separator, name);
        put_plain(member, out);
        separator = ";";
    }
}

void csv_value(const json_t *value, struct buf *out)
{
    struct buf text;

    /* Numbers may begin with a minus sign but are not formulas. */
    if (!json_is_string(value) && ((!json_is_object(value) && !json_is_array(value)) ||
                                   json_is_number(json_array_get(value, 0)))) {
        put_plain(value, out);
        return;
    }
    buf_init(&text, MEMBERS_MAX);
    put_plain(value, &text);
    csv_field(text.data ? text.data : "", out);
    out->is_cut |= text.is_cut;
    buf_release(&text);
}

/* Append the repeat and the matrix variables of the row's case. */
static void put_case(const struct csv *csv, const json_t *row, struct buf *out)
{
    int64_t number = json_get_int(row, "case", -1);
    json_t *item = number < 0 ? NULL : json_array_get(csv->cases, (size_t)number);
    json_t *env = json_object_get(item, "env"), *values;
    const char *name;

    csv_value(json_object_get(item, "repeat"), out);
    json_object_foreach (csv->matrix, name, values) {
        const char *value = json_string_value(json_object_get(env, name));

        buf_append_str(out, ",");
        if (value && !*value)
            buf_append_str(out, "\"\"");
        else if (value)
            csv_field(value, out);
    }
}

void csv_row(const struct csv *csv, const json_t *row, struct buf *out)
{
    const char *name;
    size_t i = 0;

    while ((name = next_column(csv, &i)) != NULL) {
        csv_value(json_object_get(row, name), out);
        buf_append_str(out, ",");
    }
    put_case(csv, row, out);
    buf_append_str(out, "\r\n");
}
