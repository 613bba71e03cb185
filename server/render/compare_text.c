/* SPDX-License-Identifier: Apache-2.0 */
/* compare_text.c - writes a comparison as text, Markdown, CSV or NDJSON */
#include "server/render/compare_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/finding/template.h"
#include "server/finding/verdict.h"
#include "server/render/columns.h"

#define VALUE_MAX 200

/* The tables of a comparison. CSV combines both in one table. */
enum { BANDS = 1, SIZES = 2 };

static const struct column columns[] = {
    COLUMN(NULL, "of"),
    COLUMN("SERIES", "series"),
    COLUMN("BAND", "band", .parts = BANDS),
    COLUMN("SIZE", "size", .form = COLUMN_SIZE, .parts = SIZES),
    COLUMN("IN PLACE", "in_place", .parts = SIZES),
    COLUMN(NULL, "root"),
    COLUMN("FIGURE", "figure"),
    COLUMN(NULL, "sizes"),
    COLUMN("BASE", "base", .form = COLUMN_NUMBER),
    COLUMN("HEAD", "head", .form = COLUMN_NUMBER),
    COLUMN("CHANGE", "change", .form = COLUMN_PERCENT),
    COLUMN("INTERVAL", "interval", .form = COLUMN_INTERVAL, .name = ""),
    COLUMN(NULL, "interval.0", .name = "low"),
    COLUMN(NULL, "interval.1", .name = "high"),
    COLUMN(NULL, "p"),
    COLUMN("ANSWER", "answer", .parts = BANDS),
    COLUMN(NULL, "reason"),
    COLUMN("WHY", "why", .parts = BANDS, .name = ""),
    COLUMN(NULL, "repeats_needed"),
    COLUMN(NULL, "runs_needed"),
    COLUMNS_END,
};

static void put_table(const json_t *items, unsigned part, enum form form, struct buf *out)
{
    struct columns_layout layout = {.part = part};

    columns_write(columns, items, form, &layout, out);
}

static const json_t *evidence_of(const json_t *document)
{
    return json_object_get(json_object_get(document, "verdict"), "evidence");
}

/* ---- Text from users and programs ---- */

/* How a form writes notes: the prefix of a line, and whether to escape Markdown's special
 * characters. */
struct notes {
    const char *before;
    bool is_markdown;
};

static const struct notes terminal = {"# ", false};
static const struct notes markdown = {"- ", true};

static void put(const struct notes *form, const char *text, struct buf *out)
{
    if (form->is_markdown)
        columns_escape(out, text);
    else
        buf_append_str(out, text);
}

/* Append a line rendered from the template with these members. Takes ownership of
 * `members`. */
static void put_note(const struct notes *form, const char *template, json_t *members,
                     struct buf *out)
{
    json_t *line = template_text(template, members, NULL);
    json_t *shown = clean_text_shown(line, false);

    buf_append_str(out, form->before);
    put(form, json_string_value(shown), out);
    buf_append_str(out, "\n");
    json_decref(members);
    json_decref(shown);
    json_decref(line);
}

/* Return a value as text, truncated, or "-" if there is no value. */
static json_t *value_text(const json_t *value)
{
    char text[VALUE_MAX];
    char *whole = json_is_string(value) || !value || json_is_null(value)
                      ? NULL
                      : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    snprintf(text, sizeof(text), "%s",
             whole                   ? whole
             : json_is_string(value) ? json_string_value(value)
                                     : "-");
    free(whole);
    return json_clean_string(text);
}

/* Append the verdict's sentence, with control characters escaped. */
static void put_sentence(const struct notes *form, const json_t *document,
                         struct buf *out)
{
    json_t *shown = clean_text_shown(json_object_get(document, "verdict"), false);

    put(form, json_get_str(shown, "sentence", ""), out);
    json_decref(shown);
}

static void put_side(const struct notes *form, const json_t *document, const char *name,
                     struct buf *out)
{
    const json_t *side = json_object_get(document, name);
    json_t *runs = json_array(), *run, *cases = json_object_get(side, "cases");
    size_t i;

    json_array_foreach (json_object_get(side, "runs"), i, run) {
        json_t *mark = json_pack("{s:s}", "mark", verdict_mark_of(run));

        json_array_append_new(runs, template_text("run {id}[ {name}]{mark}", run, mark));
        json_decref(mark);
    }
    put_note(form, "{side}: [{runs:names 200}, ]{n} {n:case/cases}",
             json_pack("{s:s, s:o, s:I}", "side", name, "runs", runs, "n",
                       (json_int_t)json_array_size(cases)),
             out);
}

static void put_warnings(const struct notes *form, const json_t *document,
                         struct buf *out)
{
    json_t *item;
    size_t i;

    json_array_foreach (json_object_get(evidence_of(document), "warnings"), i, item)
        put_note(form, "warning: {text}", json_pack("{s:o}", "text", value_text(item)),
                 out);
}

static void put_differences(const struct notes *form, const json_t *document,
                            struct buf *out)
{
    json_t *item;
    size_t i;

    json_array_foreach (json_object_get(evidence_of(document), "differences"), i, item)
        put_note(form, "differs: {what}, base {base}, head {head}",
                 json_pack("{s:o, s:o, s:o}", "what",
                           value_text(json_object_get(item, "what")), "base",
                           value_text(json_object_get(item, "base")), "head",
                           value_text(json_object_get(item, "head"))),
                 out);
}

/* ---- Text and Markdown ---- */

static void write_text(const json_t *document, struct buf *out)
{
    const json_t *sizes = json_object_get(document, "sizes");

    put_warnings(&terminal, document, out);
    put_sentence(&terminal, document, out);
    buf_append_str(out, "\n\n");
    put_side(&terminal, document, "base", out);
    put_side(&terminal, document, "head", out);
    put_differences(&terminal, document, out);
    put_table(json_object_get(evidence_of(document), "bands"), BANDS, FORM_TEXT, out);
    if (json_array_size(sizes) == 0)
        return;
    buf_append_str(out, "\n# exploratory: each size is compared separately\n");
    put_table(sizes, SIZES, FORM_TEXT, out);
}

static void write_markdown(const json_t *document, struct buf *out)
{
    const json_t *bands = json_object_get(evidence_of(document), "bands");
    const json_t *sizes = json_object_get(document, "sizes");

    buf_append_str(out, "**");
    put_sentence(&markdown, document, out);
    buf_append_str(out, "**\n\n");
    put_side(&markdown, document, "base", out);
    put_side(&markdown, document, "head", out);
    put_warnings(&markdown, document, out);
    put_differences(&markdown, document, out);
    buf_append_str(out, "\n");
    put_table(bands, BANDS, FORM_MARKDOWN, out);
    if (json_array_size(sizes) == 0)
        return;
    buf_append_str(
        out, "\n<details><summary>Exploratory comparison of each size</summary>\n\n");
    put_table(sizes, SIZES, FORM_MARKDOWN, out);
    buf_append_str(out, "\n</details>\n");
}

/* ---- CSV and NDJSON ---- */

static void add_records(const json_t *items, const char *of, json_t *records)
{
    json_t *item;
    size_t i;

    json_array_foreach (items, i, item) {
        json_t *record = json_copy(item);

        json_object_set_new(record, "of", json_string(of));
        json_array_append_new(records, record);
    }
}

static void write_records(const json_t *document, enum form form, struct buf *out)
{
    json_t *records = json_array();

    add_records(json_object_get(evidence_of(document), "bands"), "band", records);
    add_records(json_object_get(document, "sizes"), "size", records);
    put_table(records, 0, form, out);
    json_decref(records);
}

int compare_write(const json_t *document, enum form form, struct buf *out)
{
    if (form == FORM_JSON)
        json_line_append(document, out);
    else if (form == FORM_TEXT)
        write_text(document, out);
    else if (form == FORM_MARKDOWN)
        write_markdown(document, out);
    else
        write_records(document, form, out);
    return out->is_cut ? -1 : 0;
}
