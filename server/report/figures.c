/* figures.c - what a run's rows add up to */
#include "server/report/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json_util.h"
#include "server/store/summary.h"

#define KEY_MAX ((size_t)1 << 20)

/* One row or one figure, on its way into a point. */
struct observation {
    size_t owner; /* index of its series or metric */
    int64_t case_no;
    double size, value;    /* value: time_us, or the metric's */
    double min_us, max_us; /* over ranks; of a metric in its unit */
    double algbw_gbs, busbw_gbs;
    int64_t wrong;
    size_t order; /* as it came */
};

struct gathering {
    struct figures *figures;
    json_t *keys;        /* of series and metrics: their index */
    json_t *families;    /* of series without the placement */
    json_t *next_family; /* of each collective */
    json_t *labels;      /* of cases, by their number as text */
    json_t *attempts;    /* the current one of each case */
    struct observation *rows, *values;
    size_t n_rows, n_values;
    bool is_failed;
};

char *figures_case_label(const json_t *item)
{
    struct buf text;
    const char *name;
    json_t *value, *env = json_object_get(item, "env");

    buf_init(&text, KEY_MAX);
    json_object_foreach(env, name, value)
    {
        buf_append_str(&text, text.len ? ", " : "");
        if (json_is_string(value))
            buf_printf(&text, "%s=%s", name, json_string_value(value));
        else
            buf_printf(&text, "%s unset", name);
    }
    return buf_detach(&text, NULL);
}

static const char *case_key(int64_t case_no, char out[24])
{
    snprintf(out, 24, "%lld", (long long)case_no);
    return out;
}

static void learn_cases(struct gathering *g, const json_t *run)
{
    json_t *cases = json_object_get(run, "cases"), *item;
    char key[24];
    size_t i;

    json_array_foreach(cases, i, item)
    {
        char *label = figures_case_label(item);

        case_key(json_get_int(item, "case", (int64_t)i), key);
        if (!label || json_object_set_new(g->labels, key, json_string(label)) ||
            json_object_set_new(
                g->attempts, key,
                json_integer((json_int_t)json_get_int(item, "attempt", 1))))
            g->is_failed = true;
        free(label);
    }
}

/* Whether the row belongs to an attempt that was given up. */
static bool is_stale(const struct gathering *g, const json_t *row)
{
    char key[24];
    const json_t *attempt =
        json_object_get(g->attempts, case_key(json_get_int(row, "case", 0), key));

    return attempt && json_get_int(row, "attempt", 1) != json_integer_value(attempt);
}

/* The number that belongs to a key, `next` if it is new; *is_new says which. */
static size_t number_of(struct gathering *g, json_t *keys, const char *key, size_t next,
                        bool *is_new)
{
    const json_t *known = json_object_get(keys, key);

    *is_new = !known;
    if (known)
        return (size_t)json_integer_value(known);
    if (json_object_set_new(keys, key, json_integer((json_int_t)next)))
        g->is_failed = true;
    return next;
}

static void append_part(struct buf *text, const char *word, const char *part)
{
    buf_printf(text, "%s%s%s", text->len ? ", " : "", word, part);
}

/* What tells a series from others of its collective. */
static char *series_label(const json_t *row, const char *case_label)
{
    const char *redop = json_get_str(row, "redop", "none");
    const json_t *group = json_object_get(row, "group");
    int64_t root = json_get_int(row, "root", -1);
    char number[24];
    struct buf text;

    buf_init(&text, KEY_MAX);
    append_part(&text, "", json_get_str(row, "dtype", "?"));
    if (strcmp(redop, "none") != 0)
        buf_printf(&text, " %s", redop);
    if (root >= 0)
        append_part(&text, "root ", case_key(root, number));
    if (json_is_integer(group))
        append_part(&text, "group ", case_key(json_integer_value(group), number));
    else if (json_is_string(group))
        append_part(&text, "group ", json_string_value(group));
    if (*case_label)
        append_part(&text, "", case_label);
    return buf_detach(&text, NULL);
}

static void add_series(struct gathering *g, const json_t *row, char *label, size_t family)
{
    struct figures *figures = g->figures;
    struct figure_series *grown =
        realloc(figures->series, (figures->n_series + 1) * sizeof(*grown));
    char *collective = strdup(json_get_str(row, "collective", "?"));

    if (grown)
        figures->series = grown;
    if (!grown || !collective) {
        free(collective);
        free(label);
        g->is_failed = true;
        return;
    }
    figures->series[figures->n_series++] =
        (struct figure_series){.collective = collective,
                               .label = label,
                               .family = family,
                               .is_in_place = json_get_bool(row, "in_place", false)};
}

/* Families are numbered within their collective: the first line of each of its charts
 * looks like the first of any other's. */
static size_t family_of(struct gathering *g, const char *collective, const char *key)
{
    size_t next = (size_t)json_get_int(g->next_family, collective, 0);
    bool is_new;
    size_t family = number_of(g, g->families, key, next, &is_new);

    if (is_new && json_object_set_new(g->next_family, collective,
                                      json_integer((json_int_t)next + 1)))
        g->is_failed = true;
    return family;
}

static size_t series_of(struct gathering *g, const json_t *row, const char *case_label)
{
    char *label = series_label(row, case_label);
    size_t owner = 0, family;
    struct buf key;
    bool is_new;

    buf_init(&key, KEY_MAX);
    if (!label ||
        buf_printf(&key, "%s|%s", json_get_str(row, "collective", "?"), label)) {
        g->is_failed = true;
    } else {
        family = family_of(g, json_get_str(row, "collective", "?"), key.data);
        if (buf_append_str(&key, json_get_bool(row, "in_place", false) ? "|in" : "|out"))
            g->is_failed = true;
        owner = number_of(g, g->keys, key.data, g->figures->n_series, &is_new);
        if (is_new) {
            add_series(g, row, label, family);
            label = NULL;
        }
    }
    free(label);
    buf_release(&key);
    return owner;
}

static const char *label_of_case(const struct gathering *g, const json_t *row)
{
    char key[24];

    return json_get_str(g->labels, case_key(json_get_int(row, "case", 0), key), "");
}

static void take_row(struct gathering *g, const json_t *row)
{
    const json_t *wrong = json_object_get(row, "wrong");
    double time = json_get_num(row, "time_us", nan(""));

    if (json_object_get(row, "skipped") || !isfinite(time))
        return;
    g->rows[g->n_rows] = (struct observation){
        .owner = series_of(g, row, label_of_case(g, row)),
        .case_no = json_get_int(row, "case", 0),
        .size = json_get_num(row, "size", 0.0),
        .value = time,
        .min_us = json_get_num(row, "time_min_us", time),
        .max_us = json_get_num(row, "time_max_us", time),
        .algbw_gbs = json_get_num(row, "algbw_gbs", nan("")),
        .busbw_gbs = json_get_num(row, "busbw_gbs", nan("")),
        .wrong = json_is_integer(wrong) ? json_integer_value(wrong) : -1,
        .order = g->n_rows,
    };
    g->n_rows++;
}

/* The metric's name with those of its labels that are text. */
static char *metric_name(const json_t *row)
{
    struct buf text;
    const char *name;
    json_t *value, *labels = json_object_get(row, "labels");

    buf_init(&text, KEY_MAX);
    buf_append_str(&text, json_get_str(row, "metric", "?"));
    json_object_foreach(labels, name, value)
    {
        if (json_is_string(value))
            buf_printf(&text, ", %s=%s", name, json_string_value(value));
        else if (json_is_boolean(value))
            buf_printf(&text, ", %s=%s", name, json_is_true(value) ? "true" : "false");
    }
    return buf_detach(&text, NULL);
}

static void add_metric(struct gathering *g, const json_t *row, char *name)
{
    struct figures *figures = g->figures;
    struct figure_metric *grown =
        realloc(figures->metrics, (figures->n_metrics + 1) * sizeof(*grown));
    char *unit = strdup(json_get_str(row, "unit", ""));

    if (grown)
        figures->metrics = grown;
    if (!grown || !unit) {
        free(unit);
        free(name);
        g->is_failed = true;
        return;
    }
    figures->metrics[figures->n_metrics++] = (struct figure_metric){
        .name = name,
        .unit = unit,
        .higher_is_better = json_get_bool(row, "higher_is_better", true)};
}

static size_t metric_of(struct gathering *g, const json_t *row)
{
    char *name = metric_name(row);
    size_t owner = 0;
    struct buf key;
    bool is_new;

    buf_init(&key, KEY_MAX);
    if (!name || buf_printf(&key, "metric|%s|%s", json_get_str(row, "unit", ""), name)) {
        g->is_failed = true;
    } else {
        owner = number_of(g, g->keys, key.data, g->figures->n_metrics, &is_new);
        if (is_new) {
            add_metric(g, row, name);
            name = NULL;
        }
    }
    free(name);
    buf_release(&key);
    return owner;
}

static void take_value(struct gathering *g, const json_t *row)
{
    double value = json_get_num(row, "value", nan(""));
    double size = json_get_num(json_object_get(row, "labels"), "size", 0.0);

    if (!isfinite(value))
        return;
    g->values[g->n_values] = (struct observation){
        .owner = metric_of(g, row),
        .case_no = json_get_int(row, "case", 0),
        .size = size >= 1.0 ? size : 0.0,
        .value = value,
        .min_us = fmin(value, json_get_num(row, "min", value)),
        .max_us = fmax(value, json_get_num(row, "max", value)),
        .order = g->n_values,
    };
    g->n_values++;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *left, const void *right)
{
    const struct observation *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (compare_numbers(a->size, b->size))
        return compare_numbers(a->size, b->size);
    return compare_numbers(a->value, b->value);
}

static int compare_values(const void *left, const void *right)
{
    const struct observation *a = left, *b = right;

    if (a->owner == b->owner && a->case_no != b->case_no)
        return a->case_no < b->case_no ? -1 : 1;
    return compare_rows(left, right);
}

/* Sorted by time: busbw and algbw fall as it rises, so their medians stand where its
 * does. */
static double middle(const struct observation *at, size_t n, size_t offset)
{
    const char *low = (const char *)&at[(n - 1) / 2] + offset;
    const char *high = (const char *)&at[n / 2] + offset;

    return (*(const double *)(const void *)low + *(const double *)(const void *)high) / 2;
}

static struct figure_point point_of(const struct observation *at, size_t n)
{
    struct figure_point point = {
        .size = at->size,
        .time_us = middle(at, n, offsetof(struct observation, value)),
        .time_min_us = at->min_us,
        .time_max_us = at->max_us,
        .algbw_gbs = middle(at, n, offsetof(struct observation, algbw_gbs)),
        .busbw_gbs = middle(at, n, offsetof(struct observation, busbw_gbs)),
        .busbw_min_gbs = HUGE_VAL,
        .repeats = n,
        .wrong = -1,
    };

    for (size_t i = 0; i < n; i++) {
        double bytes_factor = at[i].busbw_gbs * at[i].value;

        point.time_min_us = fmin(point.time_min_us, at[i].min_us);
        point.time_max_us = fmax(point.time_max_us, at[i].max_us);
        if (at[i].min_us > 0.0)
            point.busbw_max_gbs = fmax(point.busbw_max_gbs, bytes_factor / at[i].min_us);
        if (at[i].max_us > 0.0)
            point.busbw_min_gbs = fmin(point.busbw_min_gbs, bytes_factor / at[i].max_us);
        if (at[i].wrong >= 0)
            point.wrong = at[i].wrong + (point.wrong > 0 ? point.wrong : 0);
    }
    if (!isfinite(point.busbw_min_gbs))
        point.busbw_min_gbs = point.busbw_gbs;
    return point;
}

static void reduce_rows(struct gathering *g)
{
    size_t end;

    if (g->n_rows && g->figures->series)
        qsort(g->rows, g->n_rows, sizeof(*g->rows), compare_rows);
    for (size_t i = 0; i < g->n_rows && g->figures->series; i = end) {
        const struct observation *first = &g->rows[i];
        struct figure_series *series = &g->figures->series[first->owner];
        struct figure_point *grown =
            realloc(series->points, (series->n_points + 1) * sizeof(*grown));

        if (!grown) {
            g->is_failed = true;
            return;
        }
        series->points = grown;
        for (end = i + 1; end < g->n_rows && g->rows[end].owner == first->owner &&
                          !compare_numbers(g->rows[end].size, first->size);)
            end++;
        series->points[series->n_points++] = point_of(first, end - i);
    }
}

static struct metric_case metric_case_of(const struct observation *at, size_t n)
{
    const struct observation *last = at;
    double min = at->min_us, max = at->max_us;

    for (size_t i = 1; i < n; i++) {
        min = fmin(min, at[i].min_us);
        max = fmax(max, at[i].max_us);
        if (at[i].order > last->order)
            last = &at[i];
    }
    return (struct metric_case){
        .size = at->size,
        .case_no = at->case_no,
        .count = n,
        .min = min,
        .max = max,
        .median = middle(at, n, offsetof(struct observation, value)),
        .last = last->value,
    };
}

static void reduce_values(struct gathering *g)
{
    size_t end;

    if (g->n_values && g->figures->metrics)
        qsort(g->values, g->n_values, sizeof(*g->values), compare_values);
    for (size_t i = 0; i < g->n_values && g->figures->metrics; i = end) {
        const struct observation *first = &g->values[i];
        struct figure_metric *metric = &g->figures->metrics[first->owner];
        struct metric_case *grown =
            realloc(metric->cases, (metric->n_cases + 1) * sizeof(*grown));

        if (!grown) {
            g->is_failed = true;
            return;
        }
        metric->cases = grown;
        for (end = i + 1; end < g->n_values && g->values[end].owner == first->owner &&
                          g->values[end].case_no == first->case_no &&
                          !compare_numbers(g->values[end].size, first->size);)
            end++;
        metric->cases[metric->n_cases++] = metric_case_of(first, end - i);
        metric->has_sizes = metric->has_sizes || first->size > 0.0;
    }
}

static int gathering_init(struct gathering *g, size_t n_rows)
{
    size_t n = n_rows ? n_rows : 1;

    *g = (struct gathering){
        .figures = calloc(1, sizeof(*g->figures)),
        .keys = json_object(),
        .families = json_object(),
        .next_family = json_object(),
        .labels = json_object(),
        .attempts = json_object(),
        .rows = calloc(n, sizeof(*g->rows)),
        .values = calloc(n, sizeof(*g->values)),
    };
    return g->figures && g->keys && g->families && g->next_family && g->labels &&
                   g->attempts && g->rows && g->values
               ? 0
               : -1;
}

/* Free all but the figures, which are returned, or NULL after a failure. */
static struct figures *gathering_end(struct gathering *g)
{
    struct figures *figures = g->figures;

    json_decref(g->keys);
    json_decref(g->families);
    json_decref(g->next_family);
    json_decref(g->labels);
    json_decref(g->attempts);
    free(g->rows);
    free(g->values);
    if (!g->is_failed)
        return figures;
    figures_destroy(figures);
    return NULL;
}

/* Take the rows of measurements, of metrics, or of both. */
static void take_rows(struct gathering *g, const json_t *rows, bool wants_series)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (g->is_failed || is_stale(g, row))
            continue;
        if (json_object_get(row, "metric"))
            take_value(g, row);
        else if (wants_series)
            take_row(g, row);
    }
    if (!g->is_failed)
        reduce_rows(g);
    if (!g->is_failed)
        reduce_values(g);
}

struct figures *figures_create(const json_t *run, const json_t *rows)
{
    struct gathering g;

    if (gathering_init(&g, json_array_size(rows))) {
        g.is_failed = true;
        return gathering_end(&g);
    }
    learn_cases(&g, run);
    take_rows(&g, rows, true);
    return gathering_end(&g);
}

static int point_from_summary(const struct summary_point *from, struct figure_point *to)
{
    *to = (struct figure_point){.size = (double)from->size,
                                .time_us = nan(""),
                                .time_min_us = nan(""),
                                .time_max_us = nan(""),
                                .algbw_gbs = nan(""),
                                .busbw_gbs = nan(""),
                                .repeats = from->rows,
                                .wrong = from->wrong};
    if (from->rows > 0) {
        to->time_us = from->time_us;
        to->time_min_us = from->ranks.time_us[0];
        to->time_max_us = from->ranks.time_us[1];
        to->algbw_gbs = from->algbw_gbs;
        to->busbw_gbs = from->busbw_gbs;
        to->busbw_min_gbs = from->ranks.busbw_gbs[0];
        to->busbw_max_gbs = from->ranks.busbw_gbs[1];
    }
    if (from->reason)
        to->skipped = strdup(from->reason);
    return from->reason && !to->skipped ? -1 : 0;
}

/* A copy of the summary's series, which are as many as there are keys. */
static void take_summary_series(struct gathering *g, const struct summary_series *from,
                                const char *case_label)
{
    size_t before = g->figures->n_series;
    size_t owner = series_of(g, from->key, case_label);
    struct figure_series *series;

    if (g->is_failed || owner != before || !g->figures->series)
        return;
    series = &g->figures->series[owner];
    series->points = calloc(from->n_points ? from->n_points : 1, sizeof(*series->points));
    if (!series->points) {
        g->is_failed = true;
        return;
    }
    for (size_t i = 0; i < from->n_points; i++) {
        if (point_from_summary(&from->points[i], &series->points[i]))
            g->is_failed = true;
        series->n_points++;
    }
}

static const char *label_of_combination(const struct gathering *g, int combination,
                                        const struct summary_case *cases, size_t n)
{
    char key[24];

    for (size_t i = 0; i < n; i++) {
        if (cases[i].combination == combination)
            return json_get_str(g->labels, case_key((int64_t)i, key), "");
    }
    return "";
}

struct figures *figures_from_summary(const json_t *run, const json_t *rows,
                                     const struct summary *summary,
                                     const struct summary_case *cases, size_t n_cases)
{
    struct gathering g;

    if (gathering_init(&g, json_array_size(rows))) {
        g.is_failed = true;
        return gathering_end(&g);
    }
    learn_cases(&g, run);
    for (size_t i = 0; i < summary->n_series && !g.is_failed; i++) {
        const struct summary_series *series = &summary->series[i];

        take_summary_series(
            &g, series, label_of_combination(&g, series->combination, cases, n_cases));
    }
    take_rows(&g, rows, false);
    return gathering_end(&g);
}

void figures_destroy(struct figures *figures)
{
    if (!figures)
        return;
    for (size_t i = 0; i < figures->n_series; i++) {
        free(figures->series[i].collective);
        free(figures->series[i].label);
        for (size_t j = 0; j < figures->series[i].n_points; j++)
            free(figures->series[i].points[j].skipped);
        free(figures->series[i].points);
    }
    for (size_t i = 0; i < figures->n_metrics; i++) {
        free(figures->metrics[i].name);
        free(figures->metrics[i].unit);
        free(figures->metrics[i].cases);
    }
    free(figures->series);
    free(figures->metrics);
    free(figures);
}
