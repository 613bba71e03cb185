/* section_head.c - what a run was, how it ended, and what went wrong in it */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json_util.h"
#include "server/report/sections.h"

#define WRONG_ROWS_MAX 200
#define SKIPPED_MAX 200
#define POINTS_MAX 200
#define SKIPPED_HEADING                                                                  \
    "<section><h2>Skipped</h2>\n<p>Not run, and why; never timed and never counted as "  \
    "zero.</p>\n<ul>"
#define KEY_MAX ((size_t)1 << 20)

void put_figure(struct html *html, double value, int digits)
{
    char text[HTML_NUMBER_MAX];

    html_rawf(html, "<td class=\"n\">%s</td>", html_figure(value, digits, text));
}

void put_integer(struct html *html, int64_t value)
{
    html_rawf(html, "<td class=\"n\">%lld</td>", (long long)value);
}

void put_table(struct html *html, const char *label, const char *caption,
               const char *const *names)
{
    html_raw(html, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    html_text(html, label);
    html_raw(html, "\"><table>");
    if (caption)
        html_element(html, "caption", NULL, caption);
    html_raw(html, "<thead><tr>");
    for (; *names; names++) {
        bool is_number = **names == '#';

        html_rawf(html, "<th scope=\"col\"%s>", is_number ? " class=\"n\"" : "");
        html_text(html, *names + is_number);
        html_raw(html, "</th>");
    }
    html_raw(html, "</tr></thead><tbody>\n");
}

void end_table(struct html *html)
{
    html_raw(html, "</tbody></table></div>\n");
}

void put_case(const struct report *report, int64_t case_no)
{
    const json_t *cases = json_object_get(report->facts->run, "cases");
    const char *name;
    json_t *env, *value;

    if (json_array_size(cases) < 2)
        return;
    html_textf(report->html, "case %lld", (long long)case_no);
    env = json_object_get(json_array_get(cases, (size_t)case_no), "env");
    json_object_foreach(env, name, value)
    {
        html_raw(report->html, ", ");
        html_text(report->html, name);
        html_text(report->html, json_is_string(value) ? "=" : " unset");
        if (json_is_string(value))
            html_text(report->html, json_string_value(value));
    }
}

void put_series(struct html *html, const json_t *row)
{
    const char *redop = json_get_str(row, "redop", "none");
    const json_t *group = json_object_get(row, "group");
    int64_t root = json_get_int(row, "root", -1);

    if (json_object_get(row, "metric")) {
        html_text(html, json_get_str(row, "metric", "?"));
        return;
    }
    html_textf(html, "%s %s", json_get_str(row, "collective", "?"),
               json_get_str(row, "dtype", "?"));
    if (strcmp(redop, "none") != 0)
        html_textf(html, " %s", redop);
    if (root >= 0)
        html_textf(html, ", root %lld", (long long)root);
    if (json_is_integer(group))
        html_textf(html, ", group %lld", (long long)json_integer_value(group));
    else if (json_is_string(group))
        html_textf(html, ", group %s", json_string_value(group));
}

static const char *tone_of(const char *state)
{
    if (strcmp(state, "completed") == 0)
        return "good";
    return strcmp(state, "failed") == 0 ? "bad" : "warn";
}

static void put_fact(struct html *html, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    html_raw(html, "<div>");
    html_element(html, "dt", NULL, name);
    html_element(html, "dd", NULL, value);
    html_raw(html, "</div>");
}

static void put_count(struct html *html, const char *name, int64_t value,
                      const char *class_name)
{
    html_raw(html, "<div>");
    html_element(html, "dt", NULL, name);
    html_rawf(html, "<dd%s%s%s>%lld</dd></div>", class_name ? " class=\"" : "",
              class_name ? class_name : "", class_name ? "\"" : "", (long long)value);
}

static void put_names(struct html *html, const char *name, const json_t *names)
{
    if (json_array_size(names) == 0)
        return;
    html_raw(html, "<div>");
    html_element(html, "dt", NULL, name);
    html_raw(html, "<dd>");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *text = json_string_value(json_array_get(names, i));

        html_text(html, i ? ", " : "");
        html_text(html, text ? text : "?");
    }
    html_raw(html, "</dd></div>");
}

static void put_labels(struct html *html, json_t *labels)
{
    const char *name;
    json_t *value;

    if (json_object_size(labels) == 0)
        return;
    html_raw(html, "<div><dt>labels</dt><dd>");
    json_object_foreach(labels, name, value)
    {
        html_raw(html, "<div>");
        html_text(html, name);
        html_text(html, " = ");
        html_text(html, json_is_string(value) ? json_string_value(value) : "");
        html_raw(html, "</div>");
    }
    html_raw(html, "</dd></div>");
}

static void put_duration(struct html *html, const json_t *run)
{
    int64_t from = clock_parse_ms(json_get_str(run, "started", NULL));
    int64_t to = clock_parse_ms(json_get_str(run, "ended", NULL));
    double seconds = (double)(to - from) / 1e3;

    if (from == 0 || to < from)
        return;
    html_raw(html, "<div><dt>took</dt><dd>");
    if (seconds < 60.0)
        html_rawf(html, "%.1f s", seconds);
    else
        html_rawf(html, "%.0f min %.0f s", floor(seconds / 60.0), fmod(seconds, 60.0));
    html_raw(html, "</dd></div>");
}

static void put_facts(const struct report *report)
{
    struct html *html = report->html;
    json_t *run = report->facts->run;
    const json_t *summary = json_object_get(run, "summary");
    const json_t *headline = json_object_get(summary, "headline");
    int64_t wrong = json_get_int(summary, "wrong", 0);
    char text[HTML_NUMBER_MAX];

    html_raw(html, "<dl class=\"facts\">");
    put_fact(html, "run", json_get_str(run, "id", ""));
    put_fact(html, "created", json_get_str(run, "created", NULL));
    put_fact(html, "started", json_get_str(run, "started", NULL));
    put_fact(html, "ended", json_get_str(run, "ended", NULL));
    put_duration(html, run);
    put_fact(html, "program", json_get_str(run, "program", NULL));
    put_names(html, "collectives", json_object_get(run, "collectives"));
    put_fact(html, "backend", json_get_str(run, "backend", NULL));
    put_count(html, "ranks", json_get_int(run, "world_size", 0), NULL);
    put_count(html, "nodes", (int64_t)json_array_size(json_object_get(run, "nodes")),
              NULL);
    put_count(html, "cases", (int64_t)json_array_size(json_object_get(run, "cases")),
              NULL);
    if (json_get_int(run, "rows_total", 0) > 0) {
        html_rawf(html, "<div><dt>rows</dt><dd>%lld of %lld</dd></div>",
                  (long long)json_get_int(run, "rows_done", 0),
                  (long long)json_get_int(run, "rows_total", 0));
        html_rawf(html, "<div><dt>busbw at %lld bytes</dt><dd>%s GB/s</dd></div>",
                  (long long)json_get_int(headline, "size", 0),
                  html_figure(json_get_num(headline, "busbw_gbs", 0.0), 3, text));
        put_count(html, "wrong elements", wrong, wrong > 0 ? "bad" : NULL);
        put_count(html, "rows skipped", json_get_int(summary, "skipped", 0), NULL);
    }
    put_labels(html, json_object_get(run, "labels"));
    html_raw(html, "</dl>\n");
}

static void put_unreal(const struct report *report)
{
    struct html *html = report->html;

    if (!report->unreal)
        return;
    html_raw(html, "<p class=\"banner warn\"><strong>");
    html_text(html, report->unreal);
    html_raw(html, "</strong> ");
    html_text(html, strcmp(report->unreal, "simulated") == 0
                        ? "These are no measurements: every time was computed from a "
                          "model, and no bytes were moved. They predict nothing about "
                          "any machine."
                        : "These are no measurements: libraries of tests stood in for "
                          "the GPUs and their collectives. The figures say nothing about "
                          "any machine.");
    html_raw(html, "</p>\n");
}

void section_head(const struct report *report)
{
    struct html *html = report->html;
    const json_t *run = report->facts->run;
    const char *name = json_get_str(run, "name", ""), *id = json_get_str(run, "id", "");
    const char *state = json_get_str(run, "state", "?");
    const char *reason = json_get_str(run, "reason", NULL);

    html_element(html, "h1", NULL, *name ? name : id);
    html_rawf(html, "<p><span class=\"pill %s\">", tone_of(state));
    html_text(html, state);
    html_raw(html, "</span></p>\n");
    put_unreal(report);
    if (!facts_has_ended(report->facts))
        html_raw(html, "<p class=\"banner warn\"><strong>unfinished</strong> The run was "
                       "still going on when this was made: figures are missing.</p>\n");
    if (reason) {
        html_rawf(html, "<p class=\"banner %s\">", tone_of(state));
        html_text(html, reason);
        html_raw(html, "</p>\n");
    }
    put_facts(report);
}

static void put_message(const struct report *report, const json_t *message)
{
    struct html *html = report->html;
    const char *level = json_get_str(message, "level", "info");
    bool is_bad = strcmp(level, "error") == 0;

    html_rawf(html, "<tr%s><td class=\"n\">", is_bad ? " class=\"bad\"" : "");
    html_text(html, json_get_str(message, "time", ""));
    html_raw(html, "</td>");
    html_element(html, "td", is_bad ? "bad" : NULL, level);
    html_raw(html, "<td>");
    if (json_object_get(message, "case"))
        put_case(report, json_get_int(message, "case", 0));
    if (json_object_get(message, "rank"))
        html_textf(html, " rank %lld", (long long)json_get_int(message, "rank", 0));
    if (json_object_get(message, "node"))
        html_textf(html, " on %s", json_get_str(message, "node", "?"));
    html_raw(html, "</td>");
    html_element(html, "td", "wide", json_get_str(message, "text", ""));
    html_raw(html, "</tr>\n");
}

static void put_messages(const struct report *report)
{
    static const char *const names[] = {"#time", "level", "where", "message", NULL};
    const struct facts *facts = report->facts;
    json_t *message;
    size_t i;

    if (json_array_size(facts->messages) == 0)
        return;
    html_raw(report->html, "<section><h2>Messages</h2>\n");
    if (facts->messages_left_out)
        html_rawf(report->html, "<p>The last %zu; %llu earlier ones are left out.</p>",
                  json_array_size(facts->messages),
                  (unsigned long long)facts->messages_left_out);
    put_table(report->html, "Messages", NULL, names);
    json_array_foreach(facts->messages, i, message)
    {
        put_message(report, message);
    }
    end_table(report->html);
    html_raw(report->html, "</section>\n");
}

static void put_row_name(const struct report *report, const json_t *row)
{
    struct html *html = report->html;
    char size[HTML_NUMBER_MAX];

    put_series(html, row);
    html_textf(html, ", %s, %s bytes",
               json_get_bool(row, "in_place", false) ? "in place" : "out of place",
               html_size(json_get_num(row, "size", 0.0), size));
    if (json_array_size(json_object_get(report->facts->run, "cases")) > 1) {
        html_raw(html, " (");
        put_case(report, json_get_int(row, "case", 0));
        html_raw(html, ")");
    }
}

static void put_wrong_elements(const struct report *report, const json_t *row)
{
    struct html *html = report->html;
    json_t *error;
    size_t i;

    if (json_array_size(json_object_get(row, "errors")) == 0)
        return;
    html_raw(html, "<ul>");
    json_array_foreach(json_object_get(row, "errors"), i, error)
    {
        int64_t rank = json_get_int(error, "rank", -1);
        const char *node =
            facts_rank_node(report->facts, json_get_int(row, "case", 0), rank);

        html_raw(html, "<li>");
        html_textf(html, "rank %lld%s%s, element %lld: expected %s, got %s",
                   (long long)rank, node ? " on " : "", node ? node : "",
                   (long long)json_get_int(error, "index", -1),
                   json_get_str(error, "expected", "?"), json_get_str(error, "got", "?"));
        html_raw(html, "</li>");
    }
    html_raw(html, "</ul>");
}

static void put_wrong(const struct report *report)
{
    struct html *html = report->html;
    size_t i, shown = 0, found = 0;
    json_t *row;

    json_array_foreach(report->facts->rows, i, row)
    {
        int64_t wrong = json_get_int(row, "wrong", 0);

        if (wrong <= 0)
            continue;
        if (found++ == 0)
            html_raw(html, "<section><h2 class=\"bad\">Wrong elements</h2>\n<p>The "
                           "collective gave other values than it must, in these rows. "
                           "The first ones of each are named.</p>\n<ul>");
        if (shown == WRONG_ROWS_MAX)
            continue;
        shown++;
        html_raw(html, "<li class=\"bad\">");
        put_row_name(report, row);
        html_textf(html, ": %lld wrong", (long long)wrong);
        put_wrong_elements(report, row);
        html_raw(html, "</li>\n");
    }
    if (found)
        html_raw(html, "</ul>\n");
    if (found > shown)
        html_rawf(html, "<p class=\"bad\">And %zu more rows.</p>\n", found - shown);
    if (found)
        html_raw(html, "</section>\n");
}

static void put_point_name(struct html *html, const struct figure_series *series,
                           const struct figure_point *point)
{
    char size[HTML_NUMBER_MAX];

    html_textf(html, "%s %s, %s, %s bytes", series->collective, series->label,
               series->is_in_place ? "in place" : "out of place",
               html_size(point->size, size));
}

static bool has_wrong(const struct figure_point *point)
{
    return point->wrong > 0;
}

static bool has_skipped(const struct figure_point *point)
{
    return point->skipped != NULL;
}

static void put_wrong_point(struct html *html, const struct figure_point *point)
{
    html_textf(html, ": %lld wrong", (long long)point->wrong);
}

static void put_skipped_point(struct html *html, const struct figure_point *point)
{
    html_text(html, ": ");
    html_text(html, point->skipped);
}

/* Of the points of all rows, those of one kind. */
static void put_points(const struct report *report, const char *heading,
                       bool (*is_wanted)(const struct figure_point *point),
                       void (*put)(struct html *html, const struct figure_point *point))
{
    struct html *html = report->html;
    size_t found = 0;

    for (size_t i = 0; i < report->figures->n_series; i++) {
        const struct figure_series *series = &report->figures->series[i];

        for (size_t j = 0; j < series->n_points; j++) {
            if (!is_wanted(&series->points[j]) || found++ >= POINTS_MAX)
                continue;
            if (found == 1)
                html_raw(html, heading);
            html_raw(html, "<li>");
            put_point_name(html, series, &series->points[j]);
            put(html, &series->points[j]);
            html_raw(html, "</li>\n");
        }
    }
    if (found)
        html_raw(html, "</ul>\n");
    if (found > POINTS_MAX)
        html_rawf(html, "<p>And %zu more sizes.</p>\n", found - POINTS_MAX);
    if (found)
        html_raw(html, "</section>\n");
}

void section_trouble(const struct report *report)
{
    put_messages(report);
    put_wrong(report);
    if (report->facts->figures)
        put_points(report,
                   "<section class=\"bad\"><h2>Wrong elements over all rows</h2>\n<ul>",
                   has_wrong, put_wrong_point);
}

/* Rows of the same size that were skipped for the same reason are shown once. */
static char *skipped_key(const json_t *row)
{
    struct html key;

    html_init(&key, KEY_MAX);
    html_rawf(&key, "%.0f ", json_get_num(row, "size", 0.0));
    put_series(&key, row);
    html_text(&key, json_get_str(row, "skipped", ""));
    if (key.is_failed) {
        html_release(&key);
        return NULL;
    }
    return buf_detach(&key.out, NULL);
}

/* How many rows each key stands for; a new object or NULL. */
static json_t *count_skipped(const struct report *report)
{
    json_t *counts = json_object(), *row;
    size_t i;

    json_array_foreach(report->facts->rows, i, row)
    {
        char *key;

        if (!json_object_get(row, "skipped"))
            continue;
        key = skipped_key(row);
        if (!key || json_object_set_new(counts, key,
                                        json_integer(json_get_int(counts, key, 0) + 1)))
            report->html->is_failed = true;
        free(key);
    }
    return counts;
}

/* Once for all the rows of its key: what was shown is taken out of the counts. */
static void put_skipped(const struct report *report, json_t *counts, const json_t *row)
{
    struct html *html = report->html;
    char size[HTML_NUMBER_MAX], *key = skipped_key(row);
    int64_t count = key ? json_get_int(counts, key, 0) : 0;

    if (count > 0) {
        html_raw(html, "<li>");
        put_series(html, row);
        html_textf(html, ", %s bytes: ", html_size(json_get_num(row, "size", 0.0), size));
        html_text(html, json_get_str(row, "skipped", ""));
        if (count > 1)
            html_textf(html, " (%lld rows)", (long long)count);
        html_raw(html, "</li>\n");
        json_object_del(counts, key);
    }
    free(key);
}

static void put_skipped_rows(const struct report *report)
{
    struct html *html = report->html;
    json_t *counts = count_skipped(report), *row;
    size_t i, left = json_object_size(counts), end;

    if (left > 0) {
        html_raw(html, SKIPPED_HEADING);
        end = left > SKIPPED_MAX ? left - SKIPPED_MAX : 0;
        json_array_foreach(report->facts->rows, i, row)
        {
            if (json_object_get(row, "skipped") && json_object_size(counts) > end)
                put_skipped(report, counts, row);
        }
        html_raw(html, "</ul>\n");
        if (end > 0)
            html_rawf(html, "<p>And %zu more.</p>\n", end);
        html_raw(html, "</section>\n");
    }
    json_decref(counts);
}

void section_skipped(const struct report *report)
{
    if (report->facts->figures)
        put_points(report, SKIPPED_HEADING, has_skipped, put_skipped_point);
    else
        put_skipped_rows(report);
}
