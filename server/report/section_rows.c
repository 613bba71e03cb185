/* section_rows.c - a run's rows as a table */
#include <math.h>
#include <string.h>

#include "common/json_util.h"
#include "server/report/sections.h"

#define EXTRA_MAX 6
#define COLUMNS 11

/* Members of rows that no one knows today get a column each. */
struct extra_columns {
    const char *names[EXTRA_MAX + 1];
    size_t n;
};

static bool has_place(const char *name)
{
    static const char *const known[] = {
        "case",    "attempt",     "row",         "series",    "collective", "dtype",
        "redop",   "root",        "in_place",    "size",      "count",      "iters",
        "time_us", "time_min_us", "time_max_us", "algbw_gbs", "busbw_gbs",  "first_us",
        "wrong",   "skipped",     "emulated",    "simulated", "group"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i], name) == 0)
            return true;
    }
    return false;
}

static bool extra_has(const struct extra_columns *extra, const char *name)
{
    for (size_t i = 0; i < extra->n; i++) {
        if (strcmp(extra->names[i], name) == 0)
            return true;
    }
    return false;
}

static void learn_extra(struct extra_columns *extra, json_t *row)
{
    const char *name;
    json_t *value;

    json_object_foreach(row, name, value)
    {
        if (extra->n < EXTRA_MAX && !json_is_array(value) && !json_is_object(value) &&
            !has_place(name) && !extra_has(extra, name))
            extra->names[extra->n++] = name;
    }
}

static void put_value(struct html *html, const json_t *value)
{
    if (json_is_integer(value))
        put_integer(html, json_integer_value(value));
    else if (json_is_real(value))
        put_figure(html, json_real_value(value), 5);
    else if (json_is_string(value))
        html_element(html, "td", NULL, json_string_value(value));
    else if (json_is_boolean(value))
        html_element(html, "td", NULL, json_is_true(value) ? "yes" : "no");
    else
        html_raw(html, "<td></td>");
}

static bool same_group(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"case",  "attempt", "collective", "dtype",
                                       "redop", "root",    "group"};

    for (size_t i = 0; a && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);

        if (x != y && !json_equal(x, y))
            return false;
    }
    return a != NULL;
}

static void put_group(const struct report *report, const json_t *row, size_t columns)
{
    struct html *html = report->html;
    int64_t attempt = json_get_int(row, "attempt", 1);

    html_rawf(html, "<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%zu\">",
              columns);
    put_series(html, row);
    if (json_array_size(json_object_get(report->facts->run, "cases")) > 1) {
        html_text(html, " - ");
        put_case(report, json_get_int(row, "case", 0));
    }
    if (attempt > 1)
        html_textf(html, ", attempt %lld", (long long)attempt);
    if (report->unreal)
        html_textf(html, ", %s: no measurements", report->unreal);
    html_raw(html, "</th></tr>\n");
}

static void put_wrong_cell(struct html *html, const json_t *row)
{
    const json_t *wrong = json_object_get(row, "wrong");

    if (!json_is_integer(wrong))
        html_raw(html, "<td class=\"n\" title=\"not checked\">-</td>");
    else
        html_rawf(html, "<td class=\"n%s\">%lld</td>",
                  json_integer_value(wrong) > 0 ? " bad" : "",
                  (long long)json_integer_value(wrong));
}

static void put_figures(struct html *html, const json_t *row)
{
    put_integer(html, json_get_int(row, "count", 0));
    put_integer(html, json_get_int(row, "iters", 0));
    put_figure(html, json_get_num(row, "time_us", nan("")), 5);
    put_figure(html, json_get_num(row, "time_min_us", nan("")), 5);
    put_figure(html, json_get_num(row, "time_max_us", nan("")), 5);
    put_figure(html, json_get_num(row, "first_us", nan("")), 5);
    put_figure(html, json_get_num(row, "algbw_gbs", nan("")), 4);
    put_figure(html, json_get_num(row, "busbw_gbs", nan("")), 4);
    put_wrong_cell(html, row);
}

static void put_row(const struct report *report, const json_t *row,
                    const struct extra_columns *extra)
{
    struct html *html = report->html;
    const char *skipped = json_get_str(row, "skipped", NULL);

    html_rawf(html, "<tr%s><th scope=\"row\" class=\"n\">%.0f</th>",
              json_get_int(row, "wrong", 0) > 0 ? " class=\"bad\"" : "",
              json_get_num(row, "size", 0.0));
    html_element(html, "td", NULL, json_get_bool(row, "in_place", false) ? "in" : "out");
    if (skipped) {
        html_rawf(html, "<td class=\"muted\" colspan=\"%zu\">skipped: ",
                  COLUMNS - 2 + extra->n);
        html_text(html, skipped);
        html_raw(html, "</td></tr>\n");
        return;
    }
    put_figures(html, row);
    for (size_t i = 0; i < extra->n; i++)
        put_value(html, json_object_get(row, extra->names[i]));
    html_raw(html, "</tr>\n");
}

static void put_rows_head(const struct report *report, const struct extra_columns *extra)
{
    static const char *const names[COLUMNS] = {
        "#size, B", "place",      "#count",       "#iters",       "#time, µs", "#min, µs",
        "#max, µs", "#first, µs", "#algbw, GB/s", "#busbw, GB/s", "#wrong"};
    const char *all[COLUMNS + EXTRA_MAX + 1] = {NULL};

    memcpy(all, names, sizeof(names));
    for (size_t i = 0; i < extra->n; i++)
        all[COLUMNS + i] = extra->names[i];
    put_table(report->html, "Results", NULL, all);
}

static void put_intro(const struct report *report)
{
    size_t have = json_array_size(report->facts->rows);
    uint64_t left_out = facts_rows_left_out(report->facts);
    struct html *html = report->html;

    html_raw(html, "<section><h2>Results</h2>\n<p class=\"muted\">Times per call: the "
                   "mean over the ranks, the fastest and the slowest rank, and the very "
                   "first call. What single ranks took stands in the data of this file."
                   "</p>\n");
    if (left_out > 0)
        html_rawf(
            html,
            "<p class=\"banner warn\"><strong>shortened</strong> The first %zu "
            "rows of %llu: %llu are left out, here and in the data of this file, not "
            "in the charts. The server gives all of them as CSV or JSON.</p>\n",
            have, (unsigned long long)left_out + have, (unsigned long long)left_out);
}

void section_rows(const struct report *report)
{
    const json_t *rows = report->facts->rows, *last = NULL;
    struct extra_columns extra = {.n = 0};
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (!json_object_get(row, "metric"))
            learn_extra(&extra, row);
    }
    json_array_foreach(rows, i, row)
    {
        if (json_object_get(row, "metric"))
            continue;
        if (!last) {
            put_intro(report);
            put_rows_head(report, &extra);
        }
        if (!same_group(last, row))
            put_group(report, row, COLUMNS + extra.n);
        put_row(report, row, &extra);
        last = row;
    }
    if (last) {
        end_table(report->html);
        html_raw(report->html, "</section>\n");
    }
}
