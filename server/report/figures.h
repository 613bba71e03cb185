/* figures.h - what a run's rows add up to: series with a point per size, and the figures
 * of its cases. Pure. */
#ifndef RINGBENCH_SERVER_REPORT_FIGURES_H
#define RINGBENCH_SERVER_REPORT_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct summary;
struct summary_case;

/* One size of a series: medians over repeats, bounds over ranks and repeats. */
struct figure_point {
    double size;
    double time_us, time_min_us, time_max_us;
    double algbw_gbs;
    double busbw_gbs, busbw_min_gbs, busbw_max_gbs;
    size_t repeats; /* that were measured; if 0, there are no figures: NAN */
    int64_t wrong;  /* over repeats; -1: not checked */
    char *skipped;  /* why a row of this size was not run; only from a summary */
};

struct figure_series {
    char *collective;
    char *label;   /* what tells it from others of the collective */
    size_t family; /* the same for out of place and in place */
    bool is_in_place;
    struct figure_point *points; /* by rising size */
    size_t n_points;
};

/* The values of one metric in one case, of all ranks. */
struct metric_case {
    double size; /* the label `size`, if the program gave one; else 0 */
    int64_t case_no;
    size_t count;
    double min, median, max, last;
};

struct figure_metric {
    char *name; /* with its labels, where they are text */
    char *unit;
    bool higher_is_better;
    bool has_sizes;
    struct metric_case *cases; /* by rising case and size */
    size_t n_cases;
};

struct figures {
    struct figure_series *series; /* in the order of first appearance */
    size_t n_series;
    struct figure_metric *metrics;
    size_t n_metrics;
};

/* run: the run's document; rows: an array of its result rows, with `case` and `attempt`.
 * Rows of a case's earlier attempts don't count. NULL when memory is out. */
struct figures *figures_create(const json_t *run, const json_t *rows);
/* Likewise of a run with more rows than a report holds: series from the store's summary,
 * by combination, made for these cases; metrics, which it has for each rank apart, from
 * the rows that there are. */
struct figures *figures_from_summary(const json_t *run, const json_t *rows,
                                     const struct summary *summary,
                                     const struct summary_case *cases, size_t n_cases);
void figures_destroy(struct figures *figures);

/* What tells a case's environment from the others' ("NCCL_ALGO=Ring, NCCL_PROTO unset"):
 * the caller frees it; "" where there is no matrix, NULL when memory is out. */
char *figures_case_label(const json_t *item);

#endif
