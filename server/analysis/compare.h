/* compare.h - whether head does better than base, for each band of sizes. Sides that
 * share a run are compared by case, sides of separate runs by run (level.h).
 * docs/explanation/method.md, "Comparing". */
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

#define COMPARE_SAME 0.02 /* a change that lies within counts as none */
#define COMPARE_CONFIDENCE                                                               \
    0.95                    /* by case, for all bands together; by run LEVEL_CONFIDENCE */
#define COMPARE_CASES_MIN 3 /* a side, by case; with fewer there is no verdict */
#define COMPARE_SIZES_MAX 5000  /* told as detail */
#define COMPARE_STRETCHES_MAX 8 /* of a band */
#define COMPARE_BANDS_MAX 2000  /* more than all there are of collectives */

struct compare_lot {
    const struct case_values *values; /* of the case's run; borrowed */
    int case_no;
};

/* Where is_paired, case i of base and of head ran beside each other, and n_base is
 * n_head. Where by_run, the cases of a run stand together and no run is on both sides. */
struct compare_sides {
    const struct compare_lot *base, *head;
    size_t n_base, n_head;
    bool is_paired, by_run;
    double margin; /* COMPARE_SAME, or a user's */
    /* by_run: cases of other runs like base's, which say how runs scatter; the first
     * n_before are of runs from before base, the others of runs since. Newest first, as
     * the runs of base are. */
    const struct compare_lot *history;
    size_t n_history, n_before;
};

/* Why there is no verdict. */
enum compare_reason {
    COMPARE_CLEAR,
    COMPARE_FEW,    /* cases */
    COMPARE_RUNS,   /* too few to say how runs scatter */
    COMPARE_STATES, /* which the repeats can't tell from settings */
    COMPARE_NOISE,
    COMPARE_REASONS
};

const char *compare_reason_name(enum compare_reason reason);

/* One comparison of figures: of a size, or of a band. */
struct compare_change {
    double base, head; /* means of the figure over cases (and sizes): geometric ones */
    double change;     /* of head, as a part of base: 0.03 is 3 % more */
    double low, high;  /* interval; of a single case NaN, as is p */
    double p;          /* of no change; by itself */
};

/* Sizes that stand together in a band and are surely faster on one side. */
struct compare_stretch {
    bool is_head_faster;
    int64_t from, to;   /* bytes */
    double least, most; /* gain of the faster side: 1 is twice as fast */
};

struct compare_band {
    json_t *about;      /* {"collective","dtype","redop"} or {"metric","unit","labels"} */
    enum band band;     /* BANDS: a figure that has no sizes */
    const char *figure; /* "time_us", "busbw_gbs", or the metric's name */
    bool higher_is_better;
    bool is_linear; /* a metric with values of 0 or less: their means are plain */
    size_t sizes;   /* that all cases have, over roots, in or out of place */
    struct compare_change change;
    struct stats_effect effect; /* what the change is made of */
    double usual; /* by run: half the interval, as a part: +-3 % is 0.03; else NaN */
    struct compare_stretch stretches[COMPARE_STRETCHES_MAX]; /* by size */
    size_t n_stretches;    /* of a mixed band; 0: its sizes do not divide into a few */
    size_t repeats_needed; /* to resolve the margin; 0: that can't be said */
    size_t runs_needed;    /* more of them, like base's; 0: they are enough */
    struct states states;  /* found: the cases of both sides come in two */
    bool base_varies, head_varies; /* between these states */
    enum verdict_answer answer;
    enum compare_reason reason;
};

/* Exploratory: of one size there is no verdict. */
struct compare_size {
    const struct case_series *series; /* borrowed from base's first case */
    size_t band;                      /* index */
    int64_t size;                     /* -1: has none */
    struct compare_change change;
    struct stats_effect effect;
};

struct compare {
    size_t n_base, n_head;                /* cases */
    size_t base_runs, head_runs, history; /* by run: so many runs */
    bool is_paired, by_run;
    double margin;
    struct compare_band *bands; /* by series as base's first case has them, by size */
    size_t n_bands, bands_capacity;
    struct compare_size *sizes; /* the first COMPARE_SIZES_MAX */
    size_t n_sizes, sizes_total;
    size_t sizes_left_out;      /* that base's first case has, and not every other */
    enum verdict_answer answer; /* of all bands: what must not be overlooked first */
};

/* NULL with err when there would be more than COMPARE_BANDS_MAX bands (ERROR_INVALID).
 * The sides' values must stay as long as the result. */
struct compare *compare_create(const struct compare_sides *sides, struct error *err);
void compare_destroy(struct compare *compare);

#endif
