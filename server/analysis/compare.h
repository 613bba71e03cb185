/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - whether head performs better than base, for each band of sizes
 *
 * Sides that share a run are compared by case, sides of separate runs by run (level.h).
 * See docs/explanation/method.md, "Comparing". */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/spec/bands.h"
#include "server/analysis/case_values.h"
#include "server/analysis/states.h"
#include "server/analysis/stats.h"
#include "server/finding/verdict.h"

#define COMPARE_SAME 0.02 /* smaller changes count as none */
/* By case, for all bands together; by run LEVEL_CONFIDENCE. */
#define COMPARE_CONFIDENCE 0.95
#define COMPARE_CASES_MIN 3     /* per side, by case; with fewer there is no verdict */
#define COMPARE_SIZES_MAX 5000  /* reported as detail */
#define COMPARE_STRETCHES_MAX 8 /* of a band */
#define COMPARE_BANDS_MAX 2000  /* more than all collectives can have */

struct compare_lot {
    const struct case_values *values; /* of the case's run; borrowed */
    int case_no;
};

/* The cases to compare. is_paired: cases i of base and head ran next to each other, and
 * n_base equals n_head. by_run: the cases of a run are adjacent, and no run is on both
 * sides. */
struct compare_sides {
    const struct compare_lot *base, *head;
    size_t n_base, n_head;
    bool is_paired, by_run;
    double margin; /* COMPARE_SAME, or the user's */
    /* With by_run: cases of other runs like base's, which show the scatter of runs. The
     * first n_before are from runs before base, the others from later runs. Newest first,
     * like base's runs. */
    const struct compare_lot *history;
    size_t n_history, n_before;
};

/* Why there is no verdict. */
enum compare_reason {
    COMPARE_CLEAR,
    COMPARE_FEW,    /* too few cases */
    COMPARE_RUNS,   /* too few runs to determine the scatter */
    COMPARE_STATES, /* two states, which the repeats cannot distinguish from settings */
    COMPARE_NOISE,
    COMPARE_REASONS
};

const char *compare_reason_name(enum compare_reason reason);

/* The comparison of one figure, for a size or a band. */
struct compare_change {
    double base, head; /* geometric means of the figure over cases (and sizes) */
    double change;     /* of head relative to base: 0.03 is 3 % more */
    double low, high;  /* interval; NaN for a single case, like p */
    double p;          /* probability under no change; for this comparison alone */
};

/* Adjacent sizes in a band that are certainly faster on the same side. */
struct compare_stretch {
    bool is_head_faster;
    int64_t from, to;   /* bytes */
    double least, most; /* gain of the faster side: 1 means twice as fast */
};

struct compare_band {
    json_t *about;      /* {"collective","dtype","redop"} or {"metric","unit","labels"} */
    enum band band;     /* BANDS: a figure without sizes */
    const char *figure; /* "time_us", "busbw_gbs", or the metric's name */
    bool higher_is_better;
    bool is_linear; /* a metric with values of 0 or less, which uses arithmetic means */
    size_t sizes; /* that all cases have; counts roots, in and out of place separately */
    struct compare_change change;
    struct stats_effect effect; /* the estimate behind the change */
    double usual; /* by run: half the interval as a fraction (0.03 is +-3 %); else NaN */
    struct compare_stretch stretches[COMPARE_STRETCHES_MAX]; /* by size */
    size_t n_stretches; /* for a mixed band; 0: its sizes do not form a few stretches */
    size_t repeats_needed; /* to resolve the margin; 0: unknown */
    size_t runs_needed;    /* additional runs like base's that are needed; 0: enough */
    struct states states;  /* found: the cases of both sides fall into two states */
    bool base_varies, head_varies; /* that side has cases in both states */
    enum verdict_answer answer;
    enum compare_reason reason;
};

/* One size; exploratory, without a verdict. */
struct compare_size {
    const struct case_series *series; /* borrowed from base's first case */
    size_t band;                      /* index */
    int64_t size;                     /* -1: none */
    struct compare_change change;
    struct stats_effect effect;
};

struct compare {
    size_t n_base, n_head;                /* cases */
    size_t base_runs, head_runs, history; /* by run: number of runs */
    bool is_paired, by_run;
    double margin;
    struct compare_band
        *bands; /* in the order of base's first case, by series and size */
    size_t n_bands, bands_capacity;
    struct compare_size *sizes; /* the first COMPARE_SIZES_MAX */
    size_t n_sizes, sizes_total;
    size_t sizes_left_out; /* sizes of base's first case that some other case lacks */
    enum verdict_answer answer; /* for all bands: the most severe answer */
};

/* Return NULL with ERROR_INVALID if there would be more than COMPARE_BANDS_MAX bands. The
 * sides' values must outlive the result. */
struct compare *compare_create(const struct compare_sides *sides, struct error *err);
void compare_destroy(struct compare *compare);

#endif
