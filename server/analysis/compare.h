/* compare.h - how the cases of head do against those of base: a value per case and band,
 * one test per band, Holm over them. docs/method.md, "Comparing". */
#ifndef RINGBENCH_SERVER_ANALYSIS_COMPARE_H
#define RINGBENCH_SERVER_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/spec/bands.h"
#include "server/analysis/case_values.h"
#include "server/analysis/states.h"
#include "server/analysis/stats.h"
#include "server/analysis/verdict.h"

#define COMPARE_SAME 0.02      /* a change that lies within counts as none */
#define COMPARE_LEVEL 0.05     /* of all bands together */
#define COMPARE_CASES_MIN 3    /* a side; with fewer there is no verdict */
#define COMPARE_SIZES_MAX 5000 /* told as detail */
#define COMPARE_BANDS_MAX 2000 /* more than all there are of collectives */

struct compare_lot {
    const struct case_values *values; /* of the case's run; borrowed */
    int case_no;
};

/* Where is_paired, case i of base and of head ran beside each other, and n_base is
 * n_head. */
struct compare_sides {
    const struct compare_lot *base, *head;
    size_t n_base, n_head;
    bool is_paired;
};

/* Why there is no verdict. */
enum compare_reason {
    COMPARE_CLEAR,
    COMPARE_FEW,    /* cases */
    COMPARE_STATES, /* which the repeats can't tell from settings */
    COMPARE_NOISE,
    COMPARE_REASONS
};

const char *compare_reason_name(enum compare_reason reason);

/* One comparison of figures: of a size, or of a band. */
struct compare_change {
    double base, head; /* means of the figure over cases (and sizes): geometric ones */
    double change;     /* of head, as a part of base: 0.03 is 3 % more */
    double low, high;  /* 95 % interval; of a single case NaN, as is p */
    double p;
};

struct compare_band {
    json_t *about;      /* {"collective","dtype","redop"} or {"metric","unit","labels"} */
    enum band band;     /* BANDS: a figure that has no sizes */
    const char *figure; /* "time_us", "busbw_gbs", or the metric's name */
    bool higher_is_better;
    bool is_linear; /* a metric with values of 0 or less: their means are plain */
    size_t sizes;   /* that all cases have, over roots, in or out of place */
    struct compare_change change;
    double p_holm;
    size_t repeats_needed;         /* to resolve COMPARE_SAME; 0: that can't be said */
    struct states states;          /* found: the cases of both sides come in two */
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
};

struct compare {
    size_t n_base, n_head;
    bool is_paired;
    struct compare_band *bands; /* by series as base's first case has them, by size */
    size_t n_bands, bands_capacity;
    struct compare_size *sizes; /* the first COMPARE_SIZES_MAX */
    size_t n_sizes, sizes_total;
    size_t sizes_left_out;      /* that base's first case has, and not every other */
    enum verdict_answer answer; /* of all bands: worse if one is, else better if one is */
};

/* NULL with err when there would be more than COMPARE_BANDS_MAX bands (ERROR_INVALID), or
 * memory is out. The sides' values must stay as long as the result. */
struct compare *compare_create(const struct compare_sides *sides, struct error *err);
void compare_destroy(struct compare *compare);

#endif
