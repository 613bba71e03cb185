/* columns.c - a list of JSON objects as aligned columns, for a terminal */
#include "server/render/columns.h"

#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/units.h"

#define CELL_MAX 256
#define GAP 2

json_t *columns_value(const json_t *item, const char *path)
{
    const char *dot = strchr(path, '.');

    if (!dot)
        return json_object_get(item, path);
    return columns_value(json_object_getn(item, path, (size_t)(dot - path)), dot + 1);
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

/* The cell's text; returns its length in bytes. */
static size_t cell_text(const struct column *column, const json_t *item,
                        char cell[CELL_MAX])
{
    json_t *value = columns_value(item, column->path);
    char size_text[UNITS_TEXT_MAX];
    struct buf text;
    size_t len;

    if (is_nothing(value) && column->otherwise)
        value = columns_value(item, column->otherwise);
    if (json_is_string(value) && !is_nothing(value))
        return clean_text_copy(cell, CELL_MAX, json_string_value(value),
                               json_string_length(value));
    buf_init(&text, (size_t)CELL_MAX * 256);
    if (is_nothing(value))
        buf_append_str(&text, "-");
    else if (json_is_array(value) || json_is_object(value))
        put_members(value, &text);
    else if (column->form == COLUMN_SIZE)
        buf_append_str(&text,
                       units_format_size((uint64_t)json_integer_value(value), size_text));
    else
        put_scalar(value, &text);
    len = clean_text_copy(cell, CELL_MAX, text.data ? text.data : "", text.len);
    buf_release(&text);
    return len;
}

/* In characters: what is shown is UTF-8 without marks of zero width. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void put_blanks(size_t n, struct buf *out)
{
    static const char blanks[] = "                                ";

    for (size_t part; n > 0; n -= part) {
        part = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;
        buf_append(out, blanks, part);
    }
}

static void put_cell(const struct column *column, size_t width, const char *cell,
                     bool is_last, struct buf *out)
{
    size_t pad = width - width_of(cell);

    if (column->form != COLUMN_TEXT)
        put_blanks(pad, out);
    buf_append_str(out, cell);
    if (!is_last)
        put_blanks(GAP + (column->form != COLUMN_TEXT ? 0 : pad), out);
}

/* The texts of all cells one after the other, each with its NUL. */
static int gather(const struct column *columns, const json_t *items, size_t *widths,
                  struct buf *cells)
{
    char cell[CELL_MAX];

    for (size_t row = 0; row < json_array_size(items); row++) {
        for (size_t i = 0; columns[i].heading; i++) {
            size_t len = cell_text(&columns[i], json_array_get(items, row), cell);
            size_t width = width_of(cell);

            widths[i] = width > widths[i] ? width : widths[i];
            if (buf_append(cells, cell, len + 1))
                return -1;
        }
    }
    return 0;
}

static void put_headings(const struct column *columns, const size_t *widths,
                         struct buf *out)
{
    for (size_t i = 0; columns[i].heading; i++)
        put_cell(&columns[i], widths[i], columns[i].heading, !columns[i + 1].heading,
                 out);
    buf_append_str(out, "\n");
}

int columns_append(const struct column *columns, const json_t *items,
                   struct columns_layout *layout, struct buf *out)
{
    size_t *widths = layout->widths, i;
    struct buf cells;
    int result;

    buf_init(&cells, out->max);
    for (i = 0; columns[i].heading && !layout->has_headings; i++)
        widths[i] = strlen(columns[i].heading);
    result = gather(columns, items, widths, &cells);
    if (!layout->has_headings)
        put_headings(columns, widths, out);
    layout->has_headings = true;
    for (size_t at = 0; at < cells.len && !result;) {
        for (i = 0; columns[i].heading; i++) {
            const char *cell = cells.data + at;

            put_cell(&columns[i], widths[i], cell, !columns[i + 1].heading, out);
            at += strlen(cell) + 1;
        }
        result = buf_append_str(out, "\n");
    }
    buf_release(&cells);
    return result;
}
