/* SPDX-License-Identifier: Apache-2.0 */
/* summary_sums.c - computes sums over a run's results in SQLite */
#include "server/store/summary_sums.h"

#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/store/store_sql.h"
#include "server/summary/summary_build.h"
#include "server/summary/thin.h"

#define WHAT "a summary"            /* named in the out-of-memory message */
#define LINES_MAX ((size_t)1 << 20) /* points or figures; more would fill memory */

/* clang-format off */
/* SQL: the rows that count, with the series to which the query assigns them. */
#define COUNTED(WHICH) \
    " FROM (SELECT *, combination_of(case_no, attempt) AS combination," \
    "  CASE WHEN :by = 0 THEN -1 ELSE case_no END AS of_case," \
    "  CASE WHEN :by = 2 THEN cycle ELSE -1 END AS of_cycle" \
    "  FROM results WHERE run = :run AND event <= :head AND key >= 0 AND key < :texts" \
    "  AND " WHICH ") WHERE combination IS NOT NULL"
#define POINT "combination, of_case, of_cycle, key, size"
#define FIGURE "combination, case_no, key, rank"
#define MEASURED " FILTER (WHERE NOT is_skipped)"
#define CHECKED " FILTER (WHERE wrong >= 0)"
#define WITH_INTERVAL " FILTER (WHERE time_high_us > 0)"

/* `row` is the first event's, not the minimum. total() adds doubles, and the cast limits
 * them to 64 bits; sum() fails on overflow. */
static const char SQL_POINTS[] =
    "SELECT *, (SELECT row FROM results WHERE run = :run AND event = first) FROM"
    " (SELECT " POINT ", min(count), min(event) AS first, max(event),"
    " count(*)" MEASURED ", count(*) FILTER (WHERE is_skipped),"
    " min(event) FILTER (WHERE is_skipped), count(*)" CHECKED ","
    " CAST(total(wrong)" CHECKED " AS INTEGER),"
    " sum(is_noisy), max(choice),"
    " max(time_us * algbw_gbs)" MEASURED ", max(busbw_gbs / algbw_gbs)" MEASURED ","
    " median(time_us)" MEASURED ", min(time_us)" MEASURED ", max(time_us)" MEASURED ","
    " median(algbw_gbs)" MEASURED ", min(algbw_gbs)" MEASURED ", max(algbw_gbs)" MEASURED ","
    " min(time_min_us)" MEASURED ", max(time_max_us)" MEASURED ","
    " min(time_low_us)" WITH_INTERVAL ", max(time_high_us)" WITH_INTERVAL
    COUNTED("NOT is_figure") " GROUP BY " POINT ") ORDER BY " POINT;
static const char SQL_CHOICES[] =
    "SELECT " POINT ", choice, count(*)"
    COUNTED("NOT is_figure AND NOT is_skipped AND choice >= 0 AND choice < :texts")
    " GROUP BY " POINT ", choice ORDER BY " POINT ", min(event)";
/* Figures of rank 0 or of no rank come first, because the end of the list is cut off. */
static const char SQL_FIGURES[] =
    "SELECT " FIGURE ", count(*)" MEASURED ", count(*) FILTER (WHERE is_skipped), max(event),"
    " median(value)" MEASURED ", min(value)" MEASURED ", max(value)" MEASURED
    COUNTED("is_figure") " GROUP BY " FIGURE " ORDER BY max(rank, 0), " FIGURE;
static const char SQL_VALUES[] =
    "SELECT " FIGURE ", value, x" COUNTED("is_figure AND NOT is_skipped")
    " ORDER BY " FIGURE ", event";
/* clang-format on */

struct figure_line {
    int key;
    struct summary_figure figure;
};

struct sums {
    const struct summary_query *query;
    json_t *const *texts;
    struct summary *summary;
    struct error *err;
    struct summary_line *lines;
    struct figure_line *figures;
    size_t n, capacity; /* number of lines or figures */
    size_t at;          /* index of the line or figure being filled */
    bool has_choices;   /* some rows contain NCCL's choice */
    /* The values of the current figure, the values of all figures, and the figures that
     * are kept. */
    struct summary_value *values;
    size_t n_values, values_capacity, total, n_shown;
};

/* ---- Functions for SQL ---- */

/* SQL function: return a row's combination; NULL if the row belongs to an attempt that
 * does not count. */
static void combination_of(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct summary_query *query = sqlite3_user_data(context);
    int case_no = sqlite3_value_int(values[0]), attempt = sqlite3_value_int(values[1]);
    const struct summary_case *c = NULL;

    (void)n;
    if (case_no >= 0 && (size_t)case_no < query->n_cases)
        c = &query->cases[case_no];
    if (!c || c->attempt <= 0 || attempt <= 0 || attempt == c->attempt)
        sqlite3_result_int(context, c ? c->combination : case_no);
}

struct sample {
    double *values;
    size_t n, capacity;
};

static void median_step(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct sample *sample = sqlite3_aggregate_context(context, sizeof(*sample));

    (void)n;
    if (!sample)
        memory_out(WHAT);
    sample->values = memory_grown(sample->values, sample->n, &sample->capacity,
                                  sizeof(*sample->values), WHAT);
    sample->values[sample->n++] = sqlite3_value_double(values[0]);
}

static void median_final(sqlite3_context *context)
{
    struct sample *sample = sqlite3_aggregate_context(context, 0);

    if (!sample || sample->n == 0)
        return;
    order_stat_sort(sample->values, sample->n);
    sqlite3_result_double(context, median_of_sorted(sample->values, sample->n));
    free(sample->values);
}

static int add_functions(sqlite3 *db, const struct summary_query *query)
{
    int rc = sqlite3_create_function(db, "median", 1, SQLITE_UTF8, NULL, NULL,
                                     median_step, median_final);

    return rc ? rc
              : sqlite3_create_function(db, "combination_of", 2, SQLITE_UTF8,
                                        (void *)(uintptr_t)query, combination_of, NULL,
                                        NULL);
}

/* ---- Points ---- */

static int refuse(struct sums *sums)
{
    return error_set(sums->err, ERROR_UNAVAILABLE,
                     "the run has more than %zu series and sizes, too many for a summary",
                     LINES_MAX);
}

static void read_ends(sqlite3_stmt *stmt, int column, double ends[2])
{
    ends[0] = sqlite3_column_double(stmt, column);
    ends[1] = sqlite3_column_double(stmt, column + 1);
}

/* Compute the bandwidths for a range of times: the slowest time gives the lowest
 * bandwidth. moved: time times algbw, which is equal for all rows of one size. */
static void fill_bandwidths(double moved, double factor, struct summary_spread *spread)
{
    for (size_t i = 0; i < 2; i++) {
        double us = spread->time_us[1 - i];

        spread->algbw_gbs[i] = us > 0.0 ? moved / us : 0.0;
        spread->busbw_gbs[i] = spread->algbw_gbs[i] * factor;
    }
}

static void read_times(sqlite3_stmt *stmt, struct summary_point *point)
{
    double moved = sqlite3_column_double(stmt, 15);
    double factor = sqlite3_column_double(stmt, 16);

    point->time_us = sqlite3_column_double(stmt, 17);
    read_ends(stmt, 18, point->repeats.time_us);
    point->algbw_gbs = sqlite3_column_double(stmt, 20);
    read_ends(stmt, 21, point->repeats.algbw_gbs);
    point->busbw_gbs = point->algbw_gbs * factor;
    for (size_t i = 0; i < 2; i++)
        point->repeats.busbw_gbs[i] = point->repeats.algbw_gbs[i] * factor;
    read_ends(stmt, 23, point->ranks.time_us);
    fill_bandwidths(moved, factor, &point->ranks);
    point->has_interval = sqlite3_column_type(stmt, 25) != SQLITE_NULL;
    read_ends(stmt, 25, point->interval.time_us);
    if (point->has_interval)
        fill_bandwidths(moved, factor, &point->interval);
}

static int take_point(void *arg, sqlite3_stmt *stmt)
{
    struct sums *sums = arg;
    struct summary_line *line;
    struct summary_point *point;

    if (sums->n == LINES_MAX)
        return refuse(sums);
    sums->lines =
        memory_grown(sums->lines, sums->n, &sums->capacity, sizeof(*sums->lines), WHAT);
    line = &sums->lines[sums->n++];
    *line = (struct summary_line){.combination = sqlite3_column_int(stmt, 0),
                                  .case_no = sqlite3_column_int(stmt, 1),
                                  .cycle = sqlite3_column_int(stmt, 2),
                                  .key = sqlite3_column_int(stmt, 3)};
    point = &line->point;
    point->size = sqlite3_column_int64(stmt, 4);
    point->count = sqlite3_column_int64(stmt, 5);
    point->event = sqlite3_column_int64(stmt, 6);
    point->latest = sqlite3_column_int64(stmt, 7);
    point->rows = (uint32_t)sqlite3_column_int64(stmt, 8);
    point->skipped = (uint32_t)sqlite3_column_int64(stmt, 9);
    point->skipped_event = sqlite3_column_int64(stmt, 10);
    point->checked = (uint32_t)sqlite3_column_int64(stmt, 11);
    point->wrong = point->checked > 0 ? sqlite3_column_int64(stmt, 12) : -1;
    point->noisy = (uint32_t)sqlite3_column_int64(stmt, 13);
    point->row = sqlite3_column_int64(stmt, 27);
    sums->has_choices = sums->has_choices || sqlite3_column_int(stmt, 14) >= 0;
    if (point->rows > 0)
        read_times(stmt, point);
    sums->summary->results += point->rows + point->skipped;
    return 0;
}

static bool is_of_line(const struct summary_line *line, sqlite3_stmt *stmt)
{
    return line->combination == sqlite3_column_int(stmt, 0) &&
           line->case_no == sqlite3_column_int(stmt, 1) &&
           line->cycle == sqlite3_column_int(stmt, 2) &&
           line->key == sqlite3_column_int(stmt, 3) &&
           line->point.size == sqlite3_column_int64(stmt, 4);
}

/* Both statements return rows in the same order, so the choice belongs to the current
 * line or a later one. */
static int take_choice(void *arg, sqlite3_stmt *stmt)
{
    struct sums *sums = arg;
    struct summary_point *point;

    while (!is_of_line(&sums->lines[sums->at], stmt))
        sums->at++;
    point = &sums->lines[sums->at].point;
    if (point->n_choices < SUMMARY_CHOICES)
        point->choices[point->n_choices++] =
            (struct summary_choice){sums->texts[sqlite3_column_int(stmt, 5)],
                                    (uint32_t)sqlite3_column_int64(stmt, 6)};
    return 0;
}

static int read_points(sqlite3 *db, const json_t *params, struct sums *sums)
{
    if (store_sql_each(db, SQL_POINTS, params, take_point, sums, sums->err))
        return -1;
    if (sums->has_choices &&
        store_sql_each(db, SQL_CHOICES, params, take_choice, sums, sums->err))
        return -1;
    summary_add_series(sums->summary, sums->lines, sums->n, sums->texts,
                       sums->query->points);
    return 0;
}

/* ---- Figures ---- */

/* Count a figure that is missing from the list because it never got a value. */
static void note_no_numbers(struct summary *summary, const json_t *key, uint64_t skipped)
{
    const char *metric = json_get_str(key, "metric", "");
    int64_t known = json_get_int(summary->no_numbers, metric, 0);

    if (!summary->no_numbers)
        summary->no_numbers = json_object();
    json_object_set_new(summary->no_numbers, metric,
                        json_integer(known + (json_int_t)skipped));
}

static int take_figure(void *arg, sqlite3_stmt *stmt)
{
    struct sums *sums = arg;
    struct figure_line *line;
    uint64_t count = (uint64_t)sqlite3_column_int64(stmt, 4);
    uint64_t skipped = (uint64_t)sqlite3_column_int64(stmt, 5);

    sums->summary->results += count + skipped;
    if (count == 0) {
        note_no_numbers(sums->summary, sums->texts[sqlite3_column_int(stmt, 2)], skipped);
        return 0;
    }
    if (sums->n == LINES_MAX)
        return refuse(sums);
    sums->figures = memory_grown(sums->figures, sums->n, &sums->capacity,
                                 sizeof(*sums->figures), WHAT);
    line = &sums->figures[sums->n++];
    *line = (struct figure_line){.key = sqlite3_column_int(stmt, 2),
                                 .figure = {.combination = sqlite3_column_int(stmt, 0),
                                            .case_no = sqlite3_column_int(stmt, 1),
                                            .rank = sqlite3_column_int(stmt, 3),
                                            .count = count,
                                            .skipped = skipped,
                                            .latest = sqlite3_column_int64(stmt, 6),
                                            .median = sqlite3_column_double(stmt, 7),
                                            .min = sqlite3_column_double(stmt, 8),
                                            .max = sqlite3_column_double(stmt, 9)}};
    sums->total += count;
    return 0;
}

static int compare_ints(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_lines(const struct figure_line *a, int combination, int case_no,
                         int key, int rank)
{
    int order = compare_ints(a->figure.combination, combination);

    if (!order)
        order = compare_ints(a->figure.case_no, case_no);
    if (!order)
        order = compare_ints(a->key, key);
    return order ? order : compare_ints(a->figure.rank, rank);
}

static int compare_figures(const void *a, const void *b)
{
    const struct figure_line *other = b;

    return compare_lines(a, other->figure.combination, other->figure.case_no, other->key,
                         other->figure.rank);
}

/* All values of the figure are read: keep as many as a chart can show. */
static void finish_figure(struct sums *sums)
{
    struct summary_figure *figure = &sums->figures[sums->at++].figure;
    size_t n = sums->n_values;
    size_t most = thin_share(n, sums->total, sums->n_shown, sums->query->points);
    size_t *kept = memory_zeroed(most + n, sizeof(*kept), WHAT);
    double *values = memory_zeroed(n + 1, sizeof(*values), WHAT);

    /* Divide before adding: the sum of the values may overflow. */
    for (size_t i = 0; i < n; i++) {
        values[i] = sums->values[i].value;
        figure->mean += values[i] / (double)n;
    }
    figure->last = values[n - 1];
    figure->n_values = thin_choose(values, NULL, n, most, kept);
    figure->values = memory_zeroed(figure->n_values, sizeof(*figure->values), WHAT);
    for (size_t i = 0; i < figure->n_values; i++)
        figure->values[i] = sums->values[kept[i]];
    free(values);
    free(kept);
    sums->n_values = 0;
}

static int take_value(void *arg, sqlite3_stmt *stmt)
{
    struct sums *sums = arg;
    int combination = sqlite3_column_int(stmt, 0), case_no = sqlite3_column_int(stmt, 1);
    int key = sqlite3_column_int(stmt, 2), rank = sqlite3_column_int(stmt, 3);

    if (sums->n_values > 0 &&
        compare_lines(&sums->figures[sums->at], combination, case_no, key, rank))
        finish_figure(sums);
    /* Skip a value of a figure that is not shown. */
    if (sums->at == sums->n_shown ||
        compare_lines(&sums->figures[sums->at], combination, case_no, key, rank))
        return 0;
    sums->values = memory_grown(sums->values, sums->n_values, &sums->values_capacity,
                                sizeof(*sums->values), WHAT);
    sums->values[sums->n_values] = (struct summary_value){
        sums->n_values, sqlite3_column_double(stmt, 4), sqlite3_column_double(stmt, 5)};
    sums->n_values++;
    return 0;
}

static void keep_figures(struct sums *sums)
{
    struct summary *summary = sums->summary;

    summary->figures = memory_zeroed(sums->n_shown + 1, sizeof(*summary->figures), WHAT);
    for (size_t i = 0; i < sums->n_shown; i++) {
        summary->figures[i] = sums->figures[i].figure;
        summary->figures[i].key = json_incref(sums->texts[sums->figures[i].key]);
    }
    summary->n_figures = sums->n_shown;
    summary->figures_total = sums->n;
}

static int read_figures(sqlite3 *db, const json_t *params, struct sums *sums)
{
    int result = store_sql_each(db, SQL_FIGURES, params, take_figure, sums, sums->err);

    if (result)
        return -1;
    sums->n_shown = summary_lines_shown(sums->n, sums->total, sums->query->points);
    if (sums->n_shown > 0) {
        qsort(sums->figures, sums->n_shown, sizeof(*sums->figures), compare_figures);
        result = store_sql_each(db, SQL_VALUES, params, take_value, sums, sums->err);
    }
    if (sums->n_values > 0)
        finish_figure(sums);
    keep_figures(sums);
    return result;
}

int summary_sums_read(sqlite3 *db, const struct summary_query *query,
                      json_t *const *texts, size_t n_texts, struct summary *summary,
                      struct error *err)
{
    struct sums points = {.query = query, .texts = texts, .summary = summary, .err = err};
    struct sums figures = points;
    json_t *params = json_pack("{s:s, s:I, s:I, s:i}", "run", query->run, "head",
                               (json_int_t)query->up_to, "texts", (json_int_t)n_texts,
                               "by", query->by);
    int result;

    if (add_functions(db, query) != SQLITE_OK)
        result = store_sql_error(err, db, "cannot read");
    else
        result = read_points(db, params, &points) || read_figures(db, params, &figures)
                     ? -1
                     : 0;
    free(points.lines);
    free(figures.figures);
    free(figures.values);
    json_decref(params);
    return result;
}
