/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - decides if head performs better than base, for each band of sizes
 *
 * Sides that share a run are compared by case. Sides of separate runs are compared by run
 * (level.h). See docs/explanation/method.md, "Comparing". */
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

#define COMPARE_SAME 0.02 /* relative change; smaller changes count as none */
/* Confidence for all bands together when comparing by case. By run, LEVEL_CONFIDENCE
 * applies. */
#define COMPARE_CONFIDENCE 0.95
/* Minimum cases per side when comparing by case; with fewer there is no verdict */
#define COMPARE_CASES_MIN 3
#define COMPARE_SIZES_MAX 5000  /* maximum number of sizes reported as detail */
#define COMPARE_STRETCHES_MAX 8 /* maximum number of stretches per band */
#define COMPARE_BANDS_MAX 2000  /* more bands than all collectives can have */

struct compare_lot {
    const struct case_values *values; /* the values of the case's run; borrowed */
    int case_no;
};

/* The cases to compare. is_paired: cases i of base and head ran next to each other, and
 * n_base equals n_head. by_run: compare by run. The cases of a run are then adjacent, and
 * no run is on both sides. */
struct compare_sides {
    const struct compare_lot *base, *head;
    size_t n_base, n_head;
    bool is_paired, by_run;
    double margin; /* COMPARE_SAME, or the user's margin */
    /* If by_run is set: cases of other runs that are like base's run and show how runs
     * scatter. Runs before base come first (n_before cases), then later runs. Each part
     * lists the newest run first, like base. */
    const struct compare_lot *history;
    size_t n_history, n_before;
};

/* Why there is no verdict. */
enum compare_reason {
    COMPARE_CLEAR,
    COMPARE_FEW,  /* too few cases */
    COMPARE_RUNS, /* too few runs to determine the scatter */
    /* Values fall into two states, which the repeats cannot distinguish from settings */
    COMPARE_STATES,
    COMPARE_NOISE,
    COMPARE_REASONS
};

const char *compare_reason_name(enum compare_reason reason);

/* The comparison of one figure, for a size or a band. */
struct compare_change {
    double base, head; /* geometric means of the figure over cases and sizes */
    double change;     /* change of head relative to base: 0.03 is 3 % more */
    /* Confidence interval of the change; like p, NaN for a single case */
    double low, high;
    double p; /* probability of such a change by chance; for this comparison alone */
};

/* Adjacent sizes in a band at which the same side is certainly faster. */
struct compare_stretch {
    bool is_head_faster;
    int64_t from, to; /* bytes */
    /* Smallest and largest gain of the faster side: 1 means twice as fast */
    double least, most;
};

struct compare_band {
    json_t *about;      /* {"collective","dtype","redop"} or {"metric","unit","labels"} */
    enum band band;     /* BANDS for a figure without sizes */
    const char *figure; /* "time_us", "busbw_gbs", or the metric's name */
    bool higher_is_better;
    bool is_linear; /* the metric has values of 0 or less, so arithmetic means are used */
    /* Number of sizes that all cases have; roots and placements are counted separately */
    size_t sizes;
    struct compare_change change;
    struct stats_effect effect; /* the estimate from which the change is derived */
    double usual; /* by run: half the interval as a fraction (0.03 is +-3 %); else NaN */
    struct compare_stretch stretches[COMPARE_STRETCHES_MAX]; /* by ascending size */
    /* stretches of a mixed band; 0: too many, or rows of a size contradict each other */
    size_t n_stretches;
    size_t repeats_needed; /* repeats that would resolve the margin; 0: unknown */
    size_t runs_needed;    /* number of runs like base's that are missing; 0: enough */
    /* The two states into which the cases of both sides fall, if any */
    struct states states;
    bool base_varies, head_varies; /* true if that side has cases in both states */
    enum verdict_answer answer;
    enum compare_reason reason;
};

/* The comparison of one size. It is exploratory and gets no verdict. */
struct compare_size {
    const struct case_series *series; /* series of base's first case; borrowed */
    size_t band;                      /* index of the size's band */
    int64_t size;                     /* in bytes; -1: none */
    struct compare_change change;
    struct stats_effect effect;
};

struct compare {
    size_t n_base, n_head;                /* number of cases */
    size_t base_runs, head_runs, history; /* when comparing by run: number of runs */
    bool is_paired, by_run;
    double margin;
    /* in the order of base's first case, by series and size */
    struct compare_band *bands;
    size_t n_bands, bands_capacity;
    struct compare_size *sizes; /* at most COMPARE_SIZES_MAX */
    size_t n_sizes, sizes_total;
    /* Number of sizes of base's first case that another case lacks */
    size_t sizes_left_out;
    enum verdict_answer answer; /* for all bands: the most severe answer */
};

/* Compare the sides. Returns NULL with ERROR_INVALID if there would be more than
 * COMPARE_BANDS_MAX bands. The sides' values must outlive the result. */
struct compare *compare_create(const struct compare_sides *sides, struct error *err);
void compare_destroy(struct compare *compare);

#endif
