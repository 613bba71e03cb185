/* summary.h - what a run's results add up to: a point for each size of each series, and
 * the figures of programs thinned to what a chart can show. A run of a million rows gives
 * the same few thousand points as a small one. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMMARY_POINTS_DEFAULT 4000
#define SUMMARY_POINTS_MIN 100
#define SUMMARY_POINTS_MAX 50000

/* What a series is made of: rows of every case with the same environment and the same
 * nodes (a combination), of each case,
 * or of each of a case's cycles. */
enum summary_by { SUMMARY_BY_COMBINATION, SUMMARY_BY_CASE, SUMMARY_BY_CYCLE };

/* The least and the greatest of each figure. */
struct summary_spread {
    double time_us[2], algbw_gbs[2], busbw_gbs[2];
};

/* How NCCL did so many of a point's rows: "algo" and, as far as they are known, "proto",
 * "channels", "by", "ranks_differ", "unrequested". */
struct summary_choice {
    json_t *how;
    uint32_t rows;
};

#define SUMMARY_CHOICES 4 /* told apart in a point */

/* All rows of one size of a series. Medians and extremes are over these rows, exact for
 * any number of them. */
struct summary_point {
    int64_t size;   /* bytes */
    int64_t count;  /* of elements */
    int64_t row;    /* index of the first of the rows in its case */
    int64_t event;  /* id of that row's event */
    int64_t latest; /* id of the last row's event */
    uint32_t rows;  /* that were measured */
    uint32_t checked, skipped;
    int64_t skipped_event; /* id of the first that was skipped, or 0 */
    int64_t wrong;         /* elements, over the rows; -1: none of them was checked */
    /* 0 where rows is 0. A row's own figures are means over its ranks. */
    double time_us, algbw_gbs, busbw_gbs;
    struct summary_spread ranks;   /* over every rank of every row */
    struct summary_spread repeats; /* over the rows' own figures */
    uint32_t noisy;                /* rows whose time is not known as well as asked */
    bool has_interval;
    struct summary_spread interval; /* over the rows' intervals, of those that have one */
    struct summary_choice
        choices[SUMMARY_CHOICES]; /* those that came first; what is left
                                     of `rows` is others, or not known */
    uint32_t n_choices;
    char *reason; /* of the first row that was skipped, or NULL */
};

struct summary_series {
    int combination;
    int case_no; /* -1: all of the combination's */
    int cycle;   /* -1: all */
    /* What its rows have in common: "series", "collective", "dtype", "redop", "root",
     * "in_place", and where there is such: "group", "simulated", "emulated",
     * "ranks_per_gpu". */
    json_t *key;
    uint64_t rows, skipped;
    int64_t wrong;
    struct summary_point *points; /* by rising size; perhaps not all */
    size_t n_points, points_total;
};

struct summary_value {
    uint64_t index; /* of the value among those of its series, from 0 */
    double value;
    double x; /* its label `size`, or its first label that is a number; else 0 */
};

/* The values of one metric of one rank in one case, in the order in which they came. */
struct summary_figure {
    int combination, case_no;
    int rank;    /* -1: none was given */
    json_t *key; /* "metric", "unit", "higher_is_better", perhaps "group", "x": the name
                    of the label that x stands for, or null, and "labels": an object of
                    those that are no numbers */
    uint64_t count;
    int64_t latest;   /* id of the last result's event */
    uint64_t skipped; /* results with a reason in place of a value */
    double mean, median, min, max, last;
    struct summary_value *values; /* perhaps not all; the least and the greatest always */
    size_t n_values;
};

struct summary {
    int64_t last_event; /* everything up to this event id is in, nothing beyond */
    uint64_t results;   /* events that it was made of */
    struct summary_series *series;
    size_t n_series, series_total;
    size_t points, points_total; /* over all series */
    struct summary_figure *figures;
    size_t n_figures, figures_total;
    json_t *no_numbers; /* {metric: results with a reason} of figures without a value, or
                           NULL */
    char *messages;     /* JSON text: an array of the last SUMMARY_MESSAGES of the events
                           `message`, oldest first, as /events shows them */
    char *recent; /* the same of the last SUMMARY_RECENT of the other events that are
                     no results */
    char *json;   /* the members of the answer of docs/reference/api.md from
                     "last_event" on but for "combinations", without braces */
};

#define SUMMARY_MESSAGES 200
#define SUMMARY_RECENT 500

/* What must be known of a case; its number is the index. */
struct summary_case {
    int combination;
    int attempt; /* rows of others don't count; 0: all do */
};

struct summary_query {
    const char *run;
    int64_t up_to; /* the last event to take in; INT64_MAX: all */
    const struct summary_case *cases;
    size_t n_cases;
    size_t points; /* at most so many, over all series, and as many values of figures */
    enum summary_by by;
    bool is_bare; /* series and figures alone: no messages, reasons, JSON */
};

void summary_destroy(struct summary *summary);

/* The cases of a run's document, numbered by combination of environment and nodes in the
 * order of first appearance: *n of them, to be freed. */
struct summary_case *summary_cases(const json_t *run, size_t *n);

#endif
