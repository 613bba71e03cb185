/* summary_build.c - a summary from the records of a run's results */
#include "server/summary/summary_build.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/summary/summary_index.h"
#include "server/summary/thin.h"

/* Beyond these a summary would take the memory of the whole server. */
#define LINES_MAX ((size_t)4 << 20)
#define SAMPLES_MAX ((size_t)32 << 20)

#define WHAT "a summary" /* where memory is out */

/* One measured row, or one figure, of line number `line`. */
struct sample {
    uint32_t line;
    double first, second; /* time and algbw, or value and x */
};

/* A point before it has its place in a series, or a figure. */
struct line {
    struct summary_line_key key; /* in front: see summary_index.h */
    struct summary_point point;  /* of a row's line */
    /* The same for all rows of one size: time times algbw, and busbw over algbw. */
    double moved, factor;
    uint32_t n_samples;
    size_t first_sample; /* once sorted by line */
};

struct lines {
    struct summary_index *index;
    struct line *items;
    size_t n, capacity;
    struct sample *samples;
    size_t n_samples, samples_capacity;
};

struct summary_builder {
    struct summary_query query;
    json_t *const *texts;
    size_t n_texts;
    uint64_t results;
    struct lines rows, figures;
};

static void lines_release(struct lines *lines)
{
    summary_index_destroy(lines->index);
    free(lines->items);
    free(lines->samples);
}

struct summary_builder *summary_builder_create(const struct summary_query *query,
                                               json_t *const *texts, size_t n_texts)
{
    struct summary_builder *builder = memory_zeroed(1, sizeof(*builder), WHAT);

    builder->query = *query;
    builder->texts = texts;
    builder->n_texts = n_texts;
    builder->rows.index = summary_index_create();
    builder->figures.index = summary_index_create();
    return builder;
}

void summary_builder_destroy(struct summary_builder *builder)
{
    if (!builder)
        return;
    lines_release(&builder->rows);
    lines_release(&builder->figures);
    free(builder);
}

void summary_builder_renew(struct summary_builder *builder,
                           const struct summary_query *query, json_t *const *texts,
                           size_t n_texts)
{
    builder->query = *query;
    builder->texts = texts;
    builder->n_texts = n_texts;
}

/* ---- Taking records ---- */

/* The line of a key, made if it is new; NULL beyond LINES_MAX. */
static struct line *line_of(struct lines *lines, const struct summary_line_key *key)
{
    const struct summary_keys keys = {lines->items, sizeof(*lines->items), lines->n};
    size_t number = summary_index_find(lines->index, &keys, key);
    struct line *line;

    if (number < lines->n)
        return &lines->items[number];
    if (number == LINES_MAX)
        return NULL;
    lines->items = memory_grown(lines->items, lines->n, &lines->capacity,
                                sizeof(*lines->items), WHAT);
    line = &lines->items[lines->n++];
    memset(line, 0, sizeof(*line));
    line->key = *key;
    line->point.row = -1;
    line->point.wrong = -1;
    return line;
}

static int add_sample(struct lines *lines, struct line *line, double first, double second)
{
    struct sample *sample;

    if (lines->n_samples == SAMPLES_MAX)
        return -1;
    lines->samples =
        memory_grown(lines->samples, lines->n_samples, &lines->samples_capacity,
                     sizeof(*lines->samples), WHAT);
    sample = &lines->samples[lines->n_samples++];
    sample->line = (uint32_t)(line - lines->items);
    sample->first = first;
    sample->second = second;
    line->n_samples++;
    return 0;
}

static void take_interval(struct summary_point *point, const struct result_record *record)
{
    double *ends = point->interval.time_us;

    point->noisy += record->is_noisy;
    if (!(record->time_high_us > 0))
        return;
    if (!point->has_interval || record->time_low_us < ends[0])
        ends[0] = record->time_low_us;
    if (!point->has_interval || record->time_high_us > ends[1])
        ends[1] = record->time_high_us;
    point->has_interval = true;
}

/* how: one of the builder's texts, or NULL. */
static void take_choice(struct summary_point *point, json_t *how)
{
    uint32_t i = 0;

    while (i < point->n_choices && point->choices[i].how != how)
        i++;
    if (!how || i == SUMMARY_CHOICES)
        return;
    point->choices[i].how = how;
    point->choices[i].rows++;
    point->n_choices += i == point->n_choices;
}

static int add_row(struct summary_builder *builder, const struct summary_line_key *key,
                   const struct result_record *record)
{
    struct lines *lines = &builder->rows;
    struct line *line = line_of(lines, key);
    struct summary_point *point;

    if (!line)
        return -1;
    point = &line->point;
    if (point->event == 0) {
        point->size = record->size;
        point->count = record->count;
        point->event = record->event;
        point->row = record->row;
    }
    point->latest = record->event;
    if (record->is_skipped) {
        if (point->skipped++ == 0)
            point->skipped_event = record->event;
        return 0;
    }
    if (record->wrong >= 0)
        point->wrong = (point->checked++ ? point->wrong : 0) + record->wrong;
    if (point->rows == 0 || record->time_min_us < point->ranks.time_us[0])
        point->ranks.time_us[0] = record->time_min_us;
    if (record->time_max_us > point->ranks.time_us[1])
        point->ranks.time_us[1] = record->time_max_us;
    take_interval(point, record);
    if (record->choice >= 0 && (size_t)record->choice < builder->n_texts)
        take_choice(point, builder->texts[record->choice]);
    if (point->rows++ == 0) {
        line->moved = record->algbw_gbs * record->time_us;
        line->factor =
            record->algbw_gbs > 0.0 ? record->busbw_gbs / record->algbw_gbs : 0.0;
    }
    return add_sample(lines, line, record->time_us, record->algbw_gbs);
}

static int add_figure(struct lines *lines, const struct summary_line_key *key,
                      const struct result_record *record)
{
    struct line *line = line_of(lines, key);

    if (!line)
        return -1;
    line->point.latest = record->event;
    if (record->is_skipped) {
        line->point.skipped++;
        return 0;
    }
    return add_sample(lines, line, record->value, record->x);
}

int summary_builder_add(struct summary_builder *builder,
                        const struct result_record *record)
{
    const struct summary_query *query = &builder->query;
    struct summary_line_key key = {.case_no = record->case_no,
                                   .combination = record->case_no,
                                   .cycle = -1,
                                   .key = record->key,
                                   .rank = record->rank};

    if (record->key < 0 || (size_t)record->key >= builder->n_texts)
        return 0;
    if (record->case_no >= 0 && (size_t)record->case_no < query->n_cases) {
        const struct summary_case *c = &query->cases[record->case_no];

        if (c->attempt > 0 && record->attempt > 0 && record->attempt != c->attempt)
            return 0;
        key.combination = c->combination;
    }
    builder->results++;
    if (record->is_figure)
        return add_figure(&builder->figures, &key, record);
    key.size = record->size;
    if (query->by == SUMMARY_BY_CYCLE)
        key.cycle = record->cycle;
    if (query->by == SUMMARY_BY_COMBINATION)
        key.case_no = -1;
    return add_row(builder, &key, record);
}

/* ---- Sums ---- */

/* A copy of lines whose samples stand together, in the order in which they came. */
static void copy_sorted(const struct lines *lines, struct lines *copy)
{
    size_t at = 0;

    *copy = (struct lines){.n = lines->n, .n_samples = lines->n_samples};
    copy->items = memory_zeroed(lines->n + 1, sizeof(*copy->items), WHAT);
    copy->samples = memory_zeroed(lines->n_samples + 1, sizeof(*copy->samples), WHAT);
    for (size_t i = 0; i < lines->n; i++) {
        copy->items[i] = lines->items[i];
        copy->items[i].first_sample = at;
        copy->items[i].n_samples = 0;
        at += lines->items[i].n_samples;
    }
    for (size_t i = 0; i < lines->n_samples; i++) {
        struct line *line = &copy->items[lines->samples[i].line];

        copy->samples[line->first_sample + line->n_samples++] = lines->samples[i];
    }
}

/* Of as many values as any line has. */
static double *scratch_for(const struct lines *lines)
{
    size_t most = 1;

    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].n_samples > most)
            most = lines->items[i].n_samples;
    return memory_zeroed(most, sizeof(double), WHAT);
}

/* Sort, and say what is in the middle and at the ends. */
static double spread_of(double *values, size_t n, double ends[2])
{
    order_stat_sort(values, n);
    ends[0] = values[0];
    ends[1] = values[n - 1];
    return median_of_sorted(values, n);
}

/* The bandwidths that belong to a spread of times: the slowest has the least. */
static void fill_bandwidths(const struct line *line, struct summary_spread *spread)
{
    for (size_t i = 0; i < 2; i++) {
        double us = spread->time_us[1 - i];

        spread->algbw_gbs[i] = us > 0.0 ? line->moved / us : line->point.algbw_gbs;
        spread->busbw_gbs[i] = spread->algbw_gbs[i] * line->factor;
    }
}

static void sum_point(const struct lines *lines, struct line *line, double *scratch)
{
    const struct sample *samples = lines->samples + line->first_sample;
    struct summary_point *point = &line->point;
    size_t n = line->n_samples;

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        scratch[i] = samples[i].first;
    point->time_us = spread_of(scratch, n, point->repeats.time_us);
    for (size_t i = 0; i < n; i++)
        scratch[i] = samples[i].second;
    point->algbw_gbs = spread_of(scratch, n, point->repeats.algbw_gbs);
    point->busbw_gbs = point->algbw_gbs * line->factor;
    for (size_t i = 0; i < 2; i++)
        point->repeats.busbw_gbs[i] = point->repeats.algbw_gbs[i] * line->factor;
    fill_bandwidths(line, &point->ranks);
    fill_bandwidths(line, &point->interval);
}

/* ---- Series ---- */

static double point_value(const void *line, size_t i)
{
    return ((const struct summary_point *)line)[i].busbw_gbs;
}

static double point_alarm(const void *line, size_t i)
{
    return (double)((const struct summary_point *)line)[i].wrong;
}

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_series(const struct summary_line_key *a,
                          const struct summary_line_key *b)
{
    int order = compare_ints(a->combination, b->combination);

    if (!order)
        order = compare_ints(a->case_no, b->case_no);
    if (!order)
        order = compare_ints(a->cycle, b->cycle);
    return order ? order : compare_ints(a->key, b->key);
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    int order = compare_series(&left->key, &right->key);

    return order ? order : compare_ints(left->key.size, right->key.size);
}

static void sum_series(struct summary_series *series, const struct summary_point *points,
                       size_t n)
{
    series->wrong = -1;
    for (size_t i = 0; i < n; i++) {
        series->rows += points[i].rows;
        series->skipped += points[i].skipped;
        if (points[i].wrong >= 0)
            series->wrong = (series->wrong < 0 ? 0 : series->wrong) + points[i].wrong;
    }
}

/* The series of lines first.. (n of them), thinned to `most`. */
static void make_series(const struct summary_builder *builder, const struct line *first,
                        size_t n, size_t most, struct summary_series *series)
{
    struct summary_point *points = memory_zeroed(n, sizeof(*points), WHAT);
    size_t *kept = memory_zeroed(most > n ? most : n, sizeof(*kept), WHAT);
    struct thin_line line = {point_value, point_alarm, points, n};

    for (size_t i = 0; i < n; i++)
        points[i] = first[i].point;
    series->combination = first->key.combination;
    series->case_no = first->key.case_no;
    series->cycle = first->key.cycle;
    series->key = json_incref(builder->texts[first->key.key]);
    series->points_total = n;
    sum_series(series, points, n);
    series->n_points = thin_choose(&line, most, kept);
    for (size_t i = 0; i < series->n_points; i++) {
        points[i] = points[kept[i]];
        for (uint32_t k = 0; k < points[i].n_choices; k++)
            json_incref(points[i].choices[k].how);
    }
    series->points = points;
    free(kept);
}

static size_t count_series(const struct lines *lines)
{
    size_t n = 0;

    for (size_t i = 0; i < lines->n; i++)
        n += i == 0 || compare_series(&lines->items[i - 1].key, &lines->items[i].key);
    return n;
}

/* How many lines can be shown: all of them if nothing needs to be thinned. */
static size_t lines_shown(size_t lines, size_t total, size_t budget)
{
    if (total <= budget || lines <= budget / THIN_LEAST)
        return lines;
    return budget / THIN_LEAST;
}

static void finish_rows(const struct summary_builder *builder, struct lines *rows,
                        struct summary *summary)
{
    double *scratch = scratch_for(rows);
    size_t most, end;

    for (size_t i = 0; i < rows->n; i++)
        sum_point(rows, &rows->items[i], scratch);
    free(scratch);
    if (rows->n > 0)
        qsort(rows->items, rows->n, sizeof(*rows->items), compare_lines);
    summary->series_total = count_series(rows);
    summary->points_total = rows->n;
    most = lines_shown(summary->series_total, rows->n, builder->query.points);
    summary->series = memory_zeroed(most + 1, sizeof(*summary->series), WHAT);
    for (size_t i = 0; i < rows->n && summary->n_series < most; i = end) {
        struct summary_series *series = &summary->series[summary->n_series];

        for (end = i + 1; end < rows->n; end++)
            if (compare_series(&rows->items[i].key, &rows->items[end].key))
                break;
        make_series(builder, &rows->items[i], end - i,
                    thin_share(end - i, rows->n, most, builder->query.points), series);
        summary->n_series++;
        summary->points += series->n_points;
    }
}

/* ---- Figures ---- */

static double sample_value(const void *line, size_t i)
{
    return ((const struct sample *)line)[i].first;
}

/* Those of rank 0 or of none first: others are left out before them. */
static int compare_ranks(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    int order = compare_ints(left->key.rank > 0 ? left->key.rank : 0,
                             right->key.rank > 0 ? right->key.rank : 0);

    return order ? order : compare_lines(a, b);
}

static int compare_figures(const void *a, const void *b)
{
    int order = compare_lines(a, b);

    return order ? order : compare_ranks(a, b);
}

static void sum_figure(struct summary_figure *figure, const struct sample *samples,
                       size_t n, double *scratch)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        scratch[i] = samples[i].first;
        sum += samples[i].first;
    }
    figure->count = n;
    figure->last = samples[n - 1].first;
    figure->mean = sum / (double)n;
    order_stat_sort(scratch, n);
    figure->median = median_of_sorted(scratch, n);
    figure->min = scratch[0];
    figure->max = scratch[n - 1];
}

static void make_figure(const struct summary_builder *builder, const struct lines *lines,
                        const struct line *line, size_t most, double *scratch,
                        struct summary_figure *figure)
{
    const struct sample *samples = lines->samples + line->first_sample;
    size_t *kept = memory_zeroed(most + line->n_samples, sizeof(*kept), WHAT);
    struct thin_line thin = {sample_value, NULL, samples, line->n_samples};

    figure->values = memory_zeroed(most + 1, sizeof(*figure->values), WHAT);
    figure->combination = line->key.combination;
    figure->case_no = line->key.case_no;
    figure->rank = line->key.rank;
    figure->key = json_incref(builder->texts[line->key.key]);
    figure->skipped = line->point.skipped;
    figure->latest = line->point.latest;
    sum_figure(figure, samples, line->n_samples, scratch);
    figure->n_values = thin_choose(&thin, most, kept);
    for (size_t i = 0; i < figure->n_values; i++) {
        const struct sample *sample = &samples[kept[i]];

        figure->values[i] =
            (struct summary_value){kept[i], sample->first, sample->second};
    }
    free(kept);
}

/* A figure that never had a value has no place of its own to be missing at. */
static void drop_empty(struct lines *lines)
{
    size_t n = 0;

    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].n_samples > 0)
            lines->items[n++] = lines->items[i];
    lines->n = n;
}

static void finish_figures(const struct summary_builder *builder, struct lines *lines,
                           struct summary *summary)
{
    double *scratch;
    size_t most;

    drop_empty(lines);
    summary->figures_total = lines->n;
    most = lines_shown(lines->n, lines->n_samples, builder->query.points);
    summary->figures = memory_zeroed(most + 1, sizeof(*summary->figures), WHAT);
    scratch = scratch_for(lines);
    if (lines->n > 0) {
        qsort(lines->items, lines->n, sizeof(*lines->items), compare_ranks);
        qsort(lines->items, most, sizeof(*lines->items), compare_figures);
    }
    for (size_t i = 0; i < most; i++) {
        const struct line *line = &lines->items[i];
        size_t share =
            thin_share(line->n_samples, lines->n_samples, most, builder->query.points);

        make_figure(builder, lines, line, share, scratch,
                    &summary->figures[summary->n_figures++]);
    }
    free(scratch);
}

struct summary *summary_builder_finish(const struct summary_builder *builder)
{
    struct summary *summary = memory_zeroed(1, sizeof(*summary), WHAT);
    struct lines rows, figures;

    summary->results = builder->results;
    copy_sorted(&builder->rows, &rows);
    finish_rows(builder, &rows, summary);
    copy_sorted(&builder->figures, &figures);
    finish_figures(builder, &figures, summary);
    lines_release(&rows);
    lines_release(&figures);
    return summary;
}
