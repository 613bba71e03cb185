/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - aggregates the results of a run: one point for each size of each series,
 * and program figures, both thinned for charts. A run with a million rows gives the same
 * few thousand points as a small run. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUMMARY_POINTS_DEFAULT 4000
#define SUMMARY_POINTS_MIN 100
#define SUMMARY_POINTS_MAX 50000

/* How rows are grouped into series: by combination, by case, or by cycle of a case. A
 * combination is all cases with the same environment and nodes. */
enum summary_by { SUMMARY_BY_COMBINATION, SUMMARY_BY_CASE, SUMMARY_BY_CYCLE };

/* Minimum and maximum of each figure. */
struct summary_spread {
    double time_us[2], algbw_gbs[2], busbw_gbs[2];
};

/* A choice that NCCL made for a number of rows: "algo" and, where known, "proto",
 * "channels", "by", "ranks_differ", "unrequested". */
struct summary_choice {
    json_t *how;
    uint32_t rows;
};

#define SUMMARY_CHOICES 4 /* maximum number of choices kept for each point */

/* All rows of one size in a series. Medians and extremes are exact and cover all these
 * rows. */
struct summary_point {
    int64_t size;   /* bytes */
    int64_t count;  /* elements */
    int64_t row;    /* index of the first row in its case */
    int64_t event;  /* id of the first row's event */
    int64_t latest; /* id of the last row's event */
    uint32_t rows;  /* measured rows */
    uint32_t checked, skipped;
    int64_t skipped_event; /* id of the first skipped row's event, or 0 */
    int64_t wrong; /* number of wrong elements in all rows; -1: no row was checked */
    /* 0 if `rows` is 0. A row's figures are means over its ranks. */
    double time_us, algbw_gbs, busbw_gbs;
    struct summary_spread ranks;   /* extremes over all ranks of all rows */
    struct summary_spread repeats; /* extremes over the rows' figures */
    /* number of rows whose time is less precise than requested */
    uint32_t noisy;
    bool has_interval;
    struct summary_spread interval; /* extremes over the rows' confidence intervals */
    struct summary_choice choices[SUMMARY_CHOICES]; /* the first ones that differ; other
                                                       rows are not counted */
    uint32_t n_choices;
    char *reason; /* reason of the first skipped row, or NULL */
};

struct summary_series {
    int combination;
    int case_no; /* -1: all cases of the combination */
    int cycle;   /* -1: all cycles */
    /* Fields that the rows share: "series", "collective", "dtype", "redop", "root",
     * "in_place", and where present "group", "simulated", "emulated", "ranks_per_gpu". */
    json_t *key;
    uint64_t rows, skipped;
    int64_t wrong;
    struct summary_point *points; /* by ascending size; may be thinned */
    size_t n_points, points_total;
};

struct summary_value {
    uint64_t index; /* position in the series, from 0 */
    double value;
    double x; /* value of the label `size`, else of the first numeric label, else 0 */
};

/* The values of one metric from one rank in one case, in order of arrival. */
struct summary_figure {
    int combination, case_no;
    int rank;    /* -1: the program gave no rank */
    json_t *key; /* "metric", "unit", "higher_is_better", optionally "group"; "x": the
                    name of the label that x holds, or null; "labels": an object of the
                    labels that are not numbers */
    uint64_t count;
    int64_t latest;   /* id of the last result's event */
    uint64_t skipped; /* number of results that contain a reason instead of a value */
    double mean, median, min, max, last;
    /* may be thinned, but always include the minimum and maximum */
    struct summary_value *values;
    size_t n_values;
};

struct summary {
    int64_t last_event; /* the summary covers all events up to this id */
    uint64_t results;   /* number of result events */
    struct summary_series *series;
    size_t n_series, series_total;
    size_t points, points_total; /* over all series */
    struct summary_figure *figures;
    size_t n_figures, figures_total;
    json_t *no_numbers; /* {metric: number of results with a reason} for figures without a
                           value, or NULL */
    char *messages; /* JSON array of the last SUMMARY_MESSAGES `message` events, oldest
                       first, as /events shows them */
    char *recent;   /* JSON array of the last SUMMARY_RECENT other events that are not
                       results */
    char *json; /* members of the response in docs/reference/api.md, from "last_event" on
                   without "combinations", and without braces */
};

#define SUMMARY_MESSAGES 200
#define SUMMARY_RECENT 500

/* Facts about a case. The array's index is the case's number. */
struct summary_case {
    int combination;
    int attempt; /* include only rows of this attempt; 0: rows of all attempts */
};

struct summary_query {
    const char *run;
    int64_t up_to; /* the last event to include; INT64_MAX: all */
    const struct summary_case *cases;
    size_t n_cases;
    size_t points; /* maximum number of points over all series, and of figure values */
    enum summary_by by;
    bool is_bare; /* series and figures only, without messages, reasons and JSON */
};

void summary_destroy(struct summary *summary);

/* Return the cases of a run's document as an array of *n entries that the caller frees.
 * Combinations of environment and nodes are numbered by first appearance. */
struct summary_case *summary_cases(const json_t *run, size_t *n);

#endif
