/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - writes a list of JSON objects as text, Markdown, CSV or NDJSON */
#include "server/render/columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/result/noise.h"
#include "server/render/csv.h"

#define CELL_MAX 256
#define KEY_MAX 64
#define GAP 2

static json_t *member_at(const json_t *item, const char *path, size_t len)
{
    char key[KEY_MAX];

    if (json_is_array(item))
        return json_array_get(item, strtoul(path, NULL, 10));
    assert(len < sizeof(key));
    memcpy(key, path, len);
    key[len] = '\0';
    return json_object_get(item, key);
}

static json_t *value_at(const json_t *item, const char *path)
{
    size_t len = strcspn(path, ".");
    json_t *member = member_at(item, path, len);

    return path[len] ? value_at(member, path + len + 1) : member;
}

static bool has_part(const struct column *column, unsigned part)
{
    return !column->parts || !part || column->parts & part;
}

static bool is_nothing(const json_t *value)
{
    return !value || json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static void put_scalar(const json_t *value, struct buf *out)
{
    if (json_is_string(value))
        buf_append_str(out, json_string_value(value));
    else if (json_is_integer(value))
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        buf_printf(out, "%.4g", json_real_value(value));
    else if (json_is_boolean(value))
        buf_append_str(out, json_is_true(value) ? "yes" : "no");
    else if (json_is_object(value))
        buf_append_str(out, json_get_str(value, "name", "?"));
}

static void put_members(json_t *value, struct buf *out)
{
    const char *name;
    json_t *member;
    size_t i;

    json_array_foreach (value, i, member) {
        buf_append_str(out, i ? "," : "");
        put_scalar(member, out);
    }
    json_object_foreach (value, name, member) {
        buf_printf(out, "%s%s", out->len ? "," : "", name);
        if (json_is_string(member))
            buf_printf(out, "=%s", json_string_value(member));
    }
}

static int digits_of(double percent)
{
    return fabs(percent) < 9.95 ? 1 : 0;
}

/* Return 0.0 for a value that would be printed as "-0.0". */
static double tidy(double percent)
{
    return fabs(percent) < 0.05 ? 0 : percent;
}

static void put_percent(const json_t *value, struct buf *out)
{
    double percent = 100 * json_number_value(value);

    buf_printf(out, "%+.*f", digits_of(percent), tidy(percent));
}

static void put_interval(const json_t *ends, struct buf *out)
{
    const json_t *low = json_array_get(ends, 0), *high = json_array_get(ends, 1);

    if (!noise_is_known(1 + json_number_value(low), 1 + json_number_value(high))) {
        buf_append_str(out, "unknown");
        return;
    }
    put_percent(low, out);
    buf_append_str(out, " to ");
    put_percent(high, out);
}

static void put_formed(enum column_form form, json_t *value, struct buf *out)
{
    char size[UNITS_TEXT_MAX];

    if (form == COLUMN_SIZE && json_is_integer(value)) {
        buf_append_str(out, units_format_size((uint64_t)json_integer_value(value), size));
    } else if (form == COLUMN_PERCENT && json_is_number(value)) {
        put_percent(value, out);
        buf_append_str(out, " %");
    } else if (form == COLUMN_INTERVAL && json_is_array(value)) {
        put_interval(value, out);
    } else if (json_is_array(value) || json_is_object(value)) {
        put_members(value, out);
    } else {
        put_scalar(value, out);
    }
}

static json_t *value_of(const struct column *column, const json_t *item)
{
    json_t *value = value_at(item, column->path);

    return is_nothing(value) && column->otherwise ? value_at(item, column->otherwise)
                                                  : value;
}

/* Write a cell's text for the terminal or Markdown. Return its length in bytes. */
static size_t cell_text(const struct column *column, const json_t *item,
                        char cell[CELL_MAX])
{
    json_t *value = value_of(column, item);
    struct buf text;
    size_t len;

    buf_init(&text, (size_t)CELL_MAX * 256);
    if (is_nothing(value))
        buf_append_str(&text, "-");
    else
        put_formed(column->form, value, &text);
    len = clean_text_copy(cell, CELL_MAX, text.data ? text.data : "", text.len);
    buf_release(&text);
    return len;
}

/* ---- Aligned text ---- */

/* Return the width in characters. Cleaned text is UTF-8 without zero-width marks. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void put_cell(const struct column *column, size_t width, const char *cell,
                     bool is_last, struct buf *out)
{
    int pad = (int)(width - width_of(cell));

    if (column->form != COLUMN_TEXT)
        buf_printf(out, "%*s%s%*s", pad, "", cell, is_last ? 0 : GAP, "");
    else
        buf_printf(out, "%s%*s", cell, is_last ? 0 : pad + GAP, "");
}

/* Find the next column of the text table at or after index *i, or NULL. */
static const struct column *next_shown(const struct column *columns, unsigned part,
                                       size_t *i)
{
    for (; columns[*i].path; (*i)++)
        if (columns[*i].heading && has_part(&columns[*i], part))
            return &columns[*i];
    return NULL;
}

/* Append the texts of all cells, each with a NUL at the end. */
static void gather(const struct column *columns, const json_t *items,
                   struct columns_layout *layout, struct buf *cells)
{
    const struct column *column;
    char cell[CELL_MAX];

    for (size_t row = 0; row < json_array_size(items) && !cells->is_cut; row++)
        for (size_t i = 0; (column = next_shown(columns, layout->part, &i)); i++) {
            size_t len = cell_text(column, json_array_get(items, row), cell);
            size_t width = width_of(cell);

            layout->widths[i] = width > layout->widths[i] ? width : layout->widths[i];
            buf_append(cells, cell, len + 1);
        }
}

/* Append a line of headings, or a line of the cells at *cells. Move *cells past these
 * cells. */
static void put_line(const struct column *columns, const char **cells,
                     const struct columns_layout *layout, struct buf *out)
{
    const struct column *column;
    size_t next;

    for (size_t i = 0; (column = next_shown(columns, layout->part, &i)); i++) {
        next = i + 1;
        put_cell(column, layout->widths[i], cells ? *cells : column->heading,
                 !next_shown(columns, layout->part, &next), out);
        if (cells)
            *cells += strlen(*cells) + 1;
    }
    buf_append_str(out, "\n");
}

static void write_text(const struct column *columns, const json_t *items,
                       struct columns_layout *layout, struct buf *out)
{
    const struct column *column;
    struct buf cells;

    buf_init(&cells, out->max);
    for (size_t i = 0; (column = next_shown(columns, layout->part, &i)); i++)
        if (!layout->has_headings)
            layout->widths[i] = strlen(column->heading);
    gather(columns, items, layout, &cells);
    out->is_cut |= cells.is_cut;
    if (!layout->has_headings)
        put_line(columns, NULL, layout, out);
    for (const char *at = cells.data, *end = at + cells.len; at < end && !out->is_cut;)
        put_line(columns, &at, layout, out);
    buf_release(&cells);
}

/* ---- Markdown ---- */

void columns_escape(struct buf *out, const char *text)
{
    static const char marks[] = "\\`*_~|<>[]@&";

    while (*text) {
        size_t n = strcspn(text, marks);

        buf_append(out, text, n);
        text += n;
        if (*text)
            buf_printf(out, "\\%c", *text++);
    }
}

static void write_markdown(const struct column *columns, const json_t *items,
                           struct columns_layout *layout, struct buf *out)
{
    const struct column *column;
    char cell[CELL_MAX];
    size_t i;

    if (!layout->has_headings) {
        for (i = 0; (column = next_shown(columns, layout->part, &i)); i++)
            buf_printf(out, "| %s ", column->heading);
        buf_append_str(out, "|\n");
        for (i = 0; (column = next_shown(columns, layout->part, &i)); i++)
            buf_append_str(out, column->form == COLUMN_TEXT ? "|---" : "|---:");
        buf_append_str(out, "|\n");
    }
    for (size_t row = 0; row < json_array_size(items); row++) {
        for (i = 0; (column = next_shown(columns, layout->part, &i)); i++) {
            cell_text(column, json_array_get(items, row), cell);
            buf_append_str(out, "| ");
            columns_escape(out, cell);
            buf_append_str(out, " ");
        }
        buf_append_str(out, "|\n");
    }
}

/* ---- CSV and NDJSON ---- */

/* Append an item's record, or the header if the item is NULL. */
static void put_record(const struct column *columns, const json_t *item,
                       struct columns_layout *layout, struct buf *out)
{
    const char *separator = "";

    for (const struct column *column = columns; column->path; column++) {
        const char *name = column->name ? column->name : column->path;

        if (!*name || !has_part(column, layout->part))
            continue;
        buf_append_str(out, separator);
        if (item)
            csv_value(value_of(column, item), out);
        else
            buf_append_str(out, name);
        separator = ",";
    }
    buf_append_str(out, "\r\n");
}

static void write_csv(const struct column *columns, const json_t *items,
                      struct columns_layout *layout, struct buf *out)
{
    if (!layout->has_headings)
        put_record(columns, NULL, layout, out);
    for (size_t row = 0; row < json_array_size(items); row++)
        put_record(columns, json_array_get(items, row), layout, out);
}

void columns_write(const struct column *columns, const json_t *items, enum form form,
                   struct columns_layout *layout, struct buf *out)
{
    if (form == FORM_TEXT)
        write_text(columns, items, layout, out);
    else if (form == FORM_MARKDOWN)
        write_markdown(columns, items, layout, out);
    else if (form == FORM_CSV)
        write_csv(columns, items, layout, out);
    for (size_t i = 0; form == FORM_NDJSON && i < json_array_size(items); i++)
        json_line_append(json_array_get(items, i), out);
    layout->has_headings = true;
}
