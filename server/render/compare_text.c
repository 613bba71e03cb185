/* compare_text.c - a comparison for a terminal, for an issue tracker, for a spreadsheet
 */
#include "server/render/compare_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/units.h"
#include "common/result/noise.h"
#include "server/finding/verdict.h"
#include "server/render/columns.h"
#include "server/render/csv.h"

#define CELL_MAX 64
#define VALUE_MAX 200

static const struct column band_columns[] = {
    {"SERIES", "series", NULL, COLUMN_TEXT},
    {"BAND", "band", NULL, COLUMN_TEXT},
    {"FIGURE", "figure", NULL, COLUMN_TEXT},
    {"BASE", "base", NULL, COLUMN_NUMBER},
    {"HEAD", "head", NULL, COLUMN_NUMBER},
    {"CHANGE", "change", NULL, COLUMN_NUMBER},
    {"INTERVAL", "interval", NULL, COLUMN_NUMBER},
    {"ANSWER", "answer", NULL, COLUMN_TEXT},
    {"WHY", "why", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

static const struct column size_columns[] = {
    {"SERIES", "series", NULL, COLUMN_TEXT},   {"PLACE", "place", NULL, COLUMN_TEXT},
    {"SIZE", "size", NULL, COLUMN_SIZE},       {"FIGURE", "figure", NULL, COLUMN_TEXT},
    {"BASE", "base", NULL, COLUMN_NUMBER},     {"HEAD", "head", NULL, COLUMN_NUMBER},
    {"CHANGE", "change", NULL, COLUMN_NUMBER}, {"95 %", "interval", NULL, COLUMN_NUMBER},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

/* ---- Cells ---- */

static void set_text(json_t *row, const char *name, const char *text)
{
    json_object_set_new(row, name, *text ? json_string(text) : json_null());
}

static int digits_of(double percent)
{
    return fabs(percent) < 9.95 ? 1 : 0;
}

/* No "-0.0". */
static double tidy(double percent)
{
    return fabs(percent) < 0.05 ? 0 : percent;
}

static const char *percent(char text[CELL_MAX], const json_t *value)
{
    double part = 100 * json_number_value(value);

    if (!json_is_number(value))
        return "";
    snprintf(text, CELL_MAX, "%+.*f %%", digits_of(part), tidy(part));
    return text;
}

static const char *interval(char text[CELL_MAX], const json_t *ends)
{
    double low = 100 * json_number_value(json_array_get(ends, 0));
    double high = 100 * json_number_value(json_array_get(ends, 1));

    if (!json_is_array(ends))
        return "";
    if (!noise_is_known(1 + low / 100, 1 + high / 100))
        return "unknown";
    snprintf(text, CELL_MAX, "%+.*f to %+.*f", digits_of(low), tidy(low), digits_of(high),
             tidy(high));
    return text;
}

static const char *figure(char text[CELL_MAX], const json_t *value)
{
    if (!json_is_number(value))
        return "";
    snprintf(text, CELL_MAX, "%.4g", json_number_value(value));
    return text;
}

/* What a table shows of a band or a size: its members, but for figures as text. */
static json_t *row_of(const json_t *item)
{
    json_t *row = json_copy((json_t *)(uintptr_t)item), *place;
    char text[CELL_MAX];

    if (!row)
        return NULL;
    place = json_object_get(item, "in_place");
    if (place)
        set_text(row, "place", json_is_true(place) ? "in" : "out");
    set_text(row, "base", figure(text, json_object_get(item, "base")));
    set_text(row, "head", figure(text, json_object_get(item, "head")));
    set_text(row, "change", percent(text, json_object_get(item, "change")));
    set_text(row, "interval", interval(text, json_object_get(item, "interval")));
    return row;
}

static json_t *rows_of(const json_t *items)
{
    json_t *rows = json_array(), *item;
    size_t i;

    json_array_foreach (items, i, item)
        json_array_append_new(rows, row_of(item));
    return rows;
}

static const json_t *evidence_of(const json_t *document)
{
    return json_object_get(json_object_get(document, "verdict"), "evidence");
}

/* ---- What people wrote, and measured programs ---- */

/* How a line of notes begins, and how a clean text is put so that it stays one. */
struct form {
    const char *before;
    int (*put)(struct buf *out, const char *text);
};

static int put_escaped(struct buf *out, const char *text)
{
    static const char marks[] = "\\`*_~|<>[]@&";

    while (*text) {
        size_t n = strcspn(text, marks);

        if (buf_append(out, text, n))
            return -1;
        text += n;
        if (*text && buf_printf(out, "\\%c", *text++))
            return -1;
    }
    return 0;
}

static const struct form terminal = {"# ", buf_append_str};
static const struct form markdown = {"- ", put_escaped};

/* Cut. */
static int put_text(const struct form *form, const char *text, struct buf *out)
{
    char clean[VALUE_MAX];

    clean_text_copy(clean, sizeof(clean), text, strlen(text));
    return form->put(out, clean);
}

static int put_value(const struct form *form, const json_t *value, struct buf *out)
{
    const char *text = json_string_value(value);
    char *whole;
    int result;

    if (text)
        return put_text(form, text, out);
    if (!value || json_is_null(value))
        return buf_append_str(out, "-");
    whole = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    result = whole ? put_text(form, whole, out) : -1;
    free(whole);
    return result;
}

/* As a whole; labels and names are in it. */
static int put_sentence(const struct form *form, const json_t *document, struct buf *out)
{
    json_t *shown = clean_text_shown(json_object_get(document, "verdict"), false);
    int result = shown ? form->put(out, json_get_str(shown, "sentence", "")) : -1;

    json_decref(shown);
    return result;
}

static int put_side(const struct form *form, const json_t *document, const char *name,
                    struct buf *out)
{
    const json_t *side = json_object_get(document, name);
    json_t *run;
    size_t i, n;

    if (buf_printf(out, "%s%s: ", form->before, name))
        return -1;
    json_array_foreach (json_object_get(side, "runs"), i, run) {
        const char *called = json_get_str(run, "name", "");

        if (buf_printf(out, "%srun %s", i ? ", " : "", json_get_str(run, "id", "?")) ||
            (*called && (buf_append_str(out, " ") || put_text(form, called, out))) ||
            buf_append_str(out, verdict_mark_of(run)))
            return -1;
    }
    n = json_array_size(json_object_get(side, "cases"));
    return buf_printf(out, "%s%zu case%s\n", i ? ", " : "", n, n == 1 ? "" : "s");
}

static int put_warnings(const struct form *form, const json_t *document, struct buf *out)
{
    json_t *item;
    size_t i;

    json_array_foreach (json_object_get(evidence_of(document), "warnings"), i, item)
        if (buf_printf(out, "%swarning: ", form->before) || put_value(form, item, out) ||
            buf_append_str(out, "\n"))
            return -1;
    return 0;
}

static int put_differences(const struct form *form, const json_t *document,
                           struct buf *out)
{
    json_t *item;
    size_t i;

    json_array_foreach (json_object_get(evidence_of(document), "differences"), i, item)
        if (buf_printf(out, "%sdiffers: ", form->before) ||
            put_value(form, json_object_get(item, "what"), out) ||
            buf_append_str(out, ", base ") ||
            put_value(form, json_object_get(item, "base"), out) ||
            buf_append_str(out, ", head ") ||
            put_value(form, json_object_get(item, "head"), out) ||
            buf_append_str(out, "\n"))
            return -1;
    return 0;
}

/* ---- Text ---- */

static int put_table(const struct column *columns, const json_t *items, struct buf *out)
{
    struct columns_layout layout = {0};
    json_t *rows = rows_of(items);
    int result = rows ? columns_append(columns, rows, &layout, out) : -1;

    json_decref(rows);
    return result;
}

int compare_text(const json_t *document, struct buf *out)
{
    const json_t *sizes = json_object_get(document, "sizes");

    if (put_warnings(&terminal, document, out) ||
        put_sentence(&terminal, document, out) || buf_append_str(out, "\n\n"))
        return -1;
    if (put_side(&terminal, document, "base", out) ||
        put_side(&terminal, document, "head", out) ||
        put_differences(&terminal, document, out) ||
        put_table(band_columns, json_object_get(evidence_of(document), "bands"), out))
        return -1;
    if (json_array_size(sizes) == 0)
        return 0;
    return buf_append_str(out, "\n# exploratory: single sizes, each by itself\n") ||
                   put_table(size_columns, sizes, out)
               ? -1
               : 0;
}

/* ---- Markdown ---- */

static int put_cell(const json_t *row, const struct column *column, struct buf *out)
{
    const json_t *value = json_object_get(row, column->path);
    char size[UNITS_TEXT_MAX];

    if (column->form == COLUMN_SIZE && json_is_integer(value))
        return buf_printf(out, " %s |",
                          units_format_size((uint64_t)json_integer_value(value), size));
    return buf_append_str(out, " ") || put_value(&markdown, value, out) ||
           buf_append_str(out, " |");
}

static int put_markdown_table(const struct column *columns, const json_t *items,
                              struct buf *out)
{
    json_t *rows = rows_of(items), *row;
    int result = rows ? buf_append_str(out, "|") : -1;
    size_t i;

    for (const struct column *at = columns; at->heading && !result; at++)
        result = buf_printf(out, " %s |", at->heading);
    if (!result)
        result = buf_append_str(out, "\n|");
    for (const struct column *at = columns; at->heading && !result; at++)
        result = buf_append_str(out, at->form == COLUMN_TEXT ? "---|" : "---:|");
    json_array_foreach (rows, i, row) {
        if (!result)
            result = buf_append_str(out, "\n|");
        for (const struct column *at = columns; at->heading && !result; at++)
            result = put_cell(row, at, out);
    }
    json_decref(rows);
    return result ? -1 : buf_append_str(out, "\n");
}

int compare_markdown(const json_t *document, struct buf *out)
{
    const json_t *bands = json_object_get(evidence_of(document), "bands");
    const json_t *sizes = json_object_get(document, "sizes");

    if (buf_append_str(out, "**") || put_sentence(&markdown, document, out) ||
        buf_append_str(out, "**\n\n"))
        return -1;
    if (put_side(&markdown, document, "base", out) ||
        put_side(&markdown, document, "head", out) ||
        put_warnings(&markdown, document, out) ||
        put_differences(&markdown, document, out) || buf_append_str(out, "\n") ||
        put_markdown_table(band_columns, bands, out))
        return -1;
    if (json_array_size(sizes) == 0)
        return 0;
    return buf_append_str(out, "\n<details><summary>Single sizes, exploratory</summary>"
                               "\n\n") ||
                   put_markdown_table(size_columns, sizes, out) ||
                   buf_append_str(out, "\n</details>\n")
               ? -1
               : 0;
}

/* ---- CSV ---- */

static const char *const csv_columns[] = {
    "of",     "series", "band",   "size",   "in_place",       "root",
    "figure", "sizes",  "base",   "head",   "change",         "low",
    "high",   "p",      "answer", "reason", "repeats_needed", "runs_needed"};

static int put_csv_value(const json_t *value, struct buf *out)
{
    char *text = NULL;
    int result = 0;

    if (json_is_string(value))
        csv_field(json_string_value(value), out);
    else if (value && !json_is_null(value))
        text = json_text(value);
    if (text)
        result = buf_append_str(out, text);
    free(text);
    return result;
}

static int put_csv_row(const json_t *item, const char *of, struct buf *out)
{
    json_t *row = json_copy((json_t *)(uintptr_t)item);
    const json_t *ends = json_object_get(item, "interval");
    size_t n = sizeof(csv_columns) / sizeof(csv_columns[0]);
    int result = row ? 0 : -1;

    json_object_set_new(row, "of", json_string(of));
    if (json_is_array(ends)) {
        json_object_set(row, "low", json_array_get(ends, 0));
        json_object_set(row, "high", json_array_get(ends, 1));
    }
    for (size_t i = 0; i < n && !result; i++)
        result = (i > 0 && buf_append_str(out, ",")) ||
                 put_csv_value(json_object_get(row, csv_columns[i]), out);
    json_decref(row);
    return result || buf_append_str(out, "\r\n") ? -1 : 0;
}

static int put_csv_rows(const json_t *items, const char *of, struct buf *out)
{
    json_t *item;
    size_t i;

    json_array_foreach (items, i, item)
        if (put_csv_row(item, of, out))
            return -1;
    return 0;
}

int compare_csv(const json_t *document, struct buf *out)
{
    size_t n = sizeof(csv_columns) / sizeof(csv_columns[0]);

    for (size_t i = 0; i < n; i++)
        if (buf_printf(out, "%s%s", i ? "," : "", csv_columns[i]))
            return -1;
    if (buf_append_str(out, "\r\n") ||
        put_csv_rows(json_object_get(evidence_of(document), "bands"), "band", out))
        return -1;
    return put_csv_rows(json_object_get(document, "sizes"), "size", out);
}
