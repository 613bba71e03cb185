/* SPDX-License-Identifier: Apache-2.0 */
/* compare_judge.c - derives a comparison's answers from the values of cases */
#include "server/analysis/compare_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/result/noise.h"
#include "common/base/memory.h"
#include "server/analysis/change_points.h"
#include "server/analysis/level.h"

static double part_of(double difference, double base, bool is_linear)
{
    if (!is_linear)
        return expm1(difference);
    return fabs(base) > 0 ? difference / fabs(base) : (double)NAN;
}

/* ---- By case ---- */

struct pair {
    double base, difference;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    return (left->difference > right->difference) -
           (left->difference < right->difference);
}

/* Test the differences of pairs. Base's mean covers only the pairs that the trimmed mean
 * of the differences keeps, so that base, head and change agree. */
static void test_pairs(const double *base, const double *head, size_t n,
                       struct stats_effect *effect)
{
    struct pair *pairs = memory_zeroed(n, sizeof(*pairs), "a comparison");
    double *differences = memory_zeroed(n, sizeof(*differences), "a comparison");
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        differences[i] = head[i] - base[i];
        pairs[i] = (struct pair){base[i], differences[i]};
    }
    stats_paired(differences, n, effect);
    qsort(pairs, n, sizeof(*pairs), compare_pairs);
    for (size_t i = effect->trimmed; i < n - effect->trimmed; i++)
        sum += pairs[i].base;
    effect->base = sum / (double)(n - 2 * effect->trimmed);
    effect->head = effect->base + effect->estimate;
    free(pairs);
    free(differences);
}

static void test_cases(const struct compare_sides *sides, double *values,
                       struct stats_effect *effect)
{
    size_t n = sides->n_base, m = sides->n_head;
    double *head = values + n;

    if (n >= 2 && m >= 2 && sides->is_paired) {
        test_pairs(values, head, n, effect);
        return;
    }
    if (n >= 2 && m >= 2) {
        stats_separate(values, n, head, m, effect);
        return;
    }
    *effect = (struct stats_effect){
        .base = stats_mean(values, n), .head = stats_mean(head, m), .error = (double)NAN};
    effect->estimate = effect->head - effect->base;
    stats_conclude(effect);
}

/* ---- By run ---- */

size_t compare_count_runs(const struct compare_lot *lots, size_t n)
{
    size_t runs = 0;

    for (size_t i = 0; i < n; i++)
        runs += i == 0 || lots[i].values != lots[i - 1].values;
    return runs;
}

/* Compute the level of each run whose values are complete, from n cases. Sorts the
 * values. Returns the number of levels. */
static size_t take_levels(const struct compare_lot *lots, double *values, size_t n,
                          double *levels)
{
    size_t count = 0;

    for (size_t i = 0, end; i < n; i = end) {
        bool is_whole = true;

        for (end = i; end < n && lots[end].values == lots[i].values; end++)
            is_whole = is_whole && !isnan(values[end]);
        if (is_whole)
            levels[count++] = level_of(values + i, end - i);
    }
    return count;
}

/* The levels of base and its history in time order, followed by those of head. */
struct run_levels {
    double *levels;
    size_t before, base, since, head; /* number of levels in each part, in this order */
};

static void reverse(double *levels, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        double level = levels[i];

        levels[i] = levels[n - 1 - i];
        levels[n - 1 - i] = level;
    }
}

/* Read the levels in time order. Base and both parts of the history list their newest
 * runs first. */
static void read_levels(const struct compare_sides *sides, double *values,
                        struct run_levels *out)
{
    size_t n = sides->n_base, m = sides->n_head, before = sides->n_before;
    double *past = values + n + m,
           *levels = memory_zeroed(n + m + sides->n_history + 1, sizeof(*levels),
                                   "a comparison");

    *out = (struct run_levels){.levels = levels};
    if (sides->n_history > before)
        out->since = take_levels(sides->history + before, past + before,
                                 sides->n_history - before, levels);
    out->base = take_levels(sides->base, values, n, levels + out->since);
    out->before =
        take_levels(sides->history, past, before, levels + out->since + out->base);
    reverse(levels, out->since + out->base + out->before);
    out->head = take_levels(sides->head, values + n, m,
                            levels + out->since + out->base + out->before);
}

/* Return the scatter of runs around the level at their time. A lasting change is not
 * scatter, so runs before and after a change form separate groups. The runs before base
 * and the runs of head are separate groups, too. Base's mean covers all its runs, so base
 * is not divided. */
static struct level_scatter scatter_of(const struct run_levels *runs, double margin,
                                       bool is_linear)
{
    struct change_point changes[CHANGE_POINTS_MAX];
    struct level_group groups[CHANGE_POINTS_MAX + 3];
    size_t end = runs->before + runs->base + runs->since, from = 0, n = 0;
    int n_changes = 0;
    double p;

    if (!is_linear)
        n_changes = change_points_find(runs->levels, end, log1p(margin), changes, &p);
    for (int i = 0; i <= n_changes; i++) {
        size_t to = i < n_changes ? changes[i].split.at : end;

        if (from < runs->before && to >= runs->before) {
            groups[n++] = (struct level_group){runs->levels + from, runs->before - from};
            from = runs->before;
        }
        if (to > from && (to <= runs->before || to >= runs->before + runs->base)) {
            groups[n++] = (struct level_group){runs->levels + from, to - from};
            from = to;
        }
    }
    groups[n++] = (struct level_group){runs->levels + end, runs->head};
    return level_scatter(groups, n);
}

static void test_runs(const struct compare_sides *sides, double *values, bool is_linear,
                      struct stats_effect *effect)
{
    struct level_scatter scatter;
    struct run_levels runs;
    const double *base;

    read_levels(sides, values, &runs);
    scatter = scatter_of(&runs, sides->margin, is_linear);
    base = runs.levels + runs.before;
    level_effect(&(struct level_group){base, runs.base},
                 &(struct level_group){base + runs.base + runs.since, runs.head},
                 &scatter, effect);
    free(runs.levels);
}

/* ---- A change ---- */

static void put_interval(double confidence, bool is_linear,
                         const struct stats_effect *effect, struct compare_change *out)
{
    double low, high;

    stats_interval(effect, confidence, &low, &high);
    out->low = part_of(low, effect->base, is_linear);
    out->high = part_of(high, effect->base, is_linear);
}

void compare_judge_change(const struct compare_sides *sides, const double *values,
                          bool is_linear, struct compare_change *out,
                          struct stats_effect *effect)
{
    size_t n = sides->n_base + sides->n_head + sides->n_history;
    double *copy = memory_zeroed(n, sizeof(*copy), "a comparison");

    memcpy(copy, values, n * sizeof(*copy));
    if (sides->by_run)
        test_runs(sides, copy, is_linear, effect);
    else
        test_cases(sides, copy, effect);
    free(copy);
    *out = (struct compare_change){.base = is_linear ? effect->base : exp(effect->base),
                                   .head = is_linear ? effect->head : exp(effect->head),
                                   .change =
                                       part_of(effect->estimate, effect->base, is_linear),
                                   .p = effect->p};
    put_interval(COMPARE_CONFIDENCE, is_linear, effect, out);
}

/* ---- Two states ---- */

static size_t count_upper(const double *values, size_t n, double split)
{
    size_t upper = 0;

    for (size_t i = 0; i < n; i++)
        upper += values[i] > split;
    return upper;
}

/* Return true if more pairs have cases in different states than the trimmed mean can
 * exclude. The differences of such pairs show the states, not the settings. */
static bool pairs_suffer(const struct compare_sides *sides, const double *values,
                         double split, size_t trimmed)
{
    size_t up = 0, down = 0;

    for (size_t i = 0; i < sides->n_base; i++) {
        bool base = values[i] > split, head = values[sides->n_base + i] > split;

        up += head && !base;
        down += base && !head;
    }
    return up > trimmed || down > trimmed;
}

/* Return true if states prevent a verdict. If each side stays in one state, the states
 * are the difference between the sides and do not prevent it. */
static bool states_matter(const struct compare_sides *sides, const double *values,
                          size_t trimmed, struct compare_band *band)
{
    const struct states *states = &band->states;
    size_t n = sides->n_base, m = sides->n_head, base, head;

    if (!states->found)
        return false;
    base = count_upper(values, n, states->split);
    head = count_upper(values + n, m, states->split);
    band->base_varies = base > 0 && base < n;
    band->head_varies = head > 0 && head < m;
    if (!band->base_varies && !band->head_varies)
        return false;
    return !sides->is_paired || pairs_suffer(sides, values, states->split, trimmed);
}

/* ---- Answers ---- */

static double confidence_of(const struct compare *compare)
{
    return compare->by_run ? level_confidence(compare->n_bands)
                           : 1 - (1 - COMPARE_CONFIDENCE) / (double)compare->n_bands;
}

/* Return the number of repeats for which half the interval equals half the margin. Then
 * 19 of 20 comparisons without a change report "same", and a change of twice the margin
 * is found. */
static size_t needed(const struct compare *compare, const struct compare_band *band)
{
    size_t n = compare->n_base < compare->n_head ? compare->n_base : compare->n_head;
    double half = log1p(compare->margin / 2);

    if (!(band->effect.error >= 0))
        return 0;
    if (band->is_linear)
        half = compare->margin / 2 * fabs(band->change.base);
    return half > 0 ? stats_repeats(&band->effect, n, half, confidence_of(compare)) : 0;
}

void compare_judge_band(const struct compare_sides *sides, const double *values,
                        struct compare_band *band)
{
    size_t n = sides->n_base + sides->n_head;

    compare_judge_change(sides, values, band->is_linear, &band->change, &band->effect);
    if (!band->is_linear && !sides->by_run)
        states_find(values, n, &band->states);
    band->answer = VERDICT_NOT_ENOUGH_DATA;
    band->reason = COMPARE_NOISE;
    band->usual = (double)NAN;
    if (sides->by_run) {
        const struct level_scatter scatter = {.df = (size_t)band->effect.df};

        band->runs_needed = level_runs_missing(&scatter);
        band->reason = band->runs_needed > 0 ? COMPARE_RUNS : COMPARE_NOISE;
    } else if (sides->n_base < COMPARE_CASES_MIN || sides->n_head < COMPARE_CASES_MIN) {
        band->reason = COMPARE_FEW;
    } else if (states_matter(sides, values, band->effect.trimmed, band)) {
        band->reason = COMPARE_STATES;
    }
}

/* Return false for changes that are not finite, such as a change from a mean of 0. */
static bool can_judge(const struct compare_band *band)
{
    const struct compare_change *change = &band->change;

    return band->reason == COMPARE_NOISE && isfinite(change->change) &&
           isfinite(change->low) && isfinite(change->high);
}

static enum verdict_answer direction_of(const struct compare_band *band)
{
    return (band->change.change > 0) == band->higher_is_better ? VERDICT_BETTER
                                                               : VERDICT_WORSE;
}

/* Derive the answer from the place of the interval: within the margin, beyond it, or
 * across one of its ends. */
static enum verdict_answer answer_by_case(const struct compare_band *band, double margin)
{
    const struct compare_change *change = &band->change;

    if (change->low > -margin && change->high < margin)
        return VERDICT_SAME;
    if (change->low >= margin || change->high <= -margin)
        return direction_of(band);
    return VERDICT_NOT_ENOUGH_DATA;
}

/* Judge by the interval that would contain one more run if nothing had changed. A change
 * within the margin counts as none. An interval that spans more than a factor of ten
 * gives no answer. */
static enum verdict_answer answer_by_run(const struct compare_band *band, double margin)
{
    const struct compare_change *change = &band->change;

    if (!noise_is_known(1 + change->low, 1 + change->high))
        return VERDICT_NOT_ENOUGH_DATA;
    if ((change->low <= 0 && change->high >= 0) || fabs(change->change) <= margin)
        return VERDICT_SAME;
    return direction_of(band);
}

static void answer_band(struct compare *compare, size_t number)
{
    struct compare_band *band = &compare->bands[number];
    double low, high;

    put_interval(confidence_of(compare), band->is_linear, &band->effect, &band->change);
    if (band->reason == COMPARE_NOISE && !compare->by_run)
        band->repeats_needed = needed(compare, band);
    if (!can_judge(band))
        return;
    if (compare->by_run) {
        stats_interval(&band->effect, confidence_of(compare), &low, &high);
        band->usual = part_of((high - low) / 2, band->effect.base, band->is_linear);
        band->answer = answer_by_run(band, compare->margin);
    } else {
        band->answer = answer_by_case(band, compare->margin);
    }
    compare_judge_sizes(compare, number);
    if (band->answer != VERDICT_NOT_ENOUGH_DATA)
        band->reason = COMPARE_CLEAR;
}

static bool has_answer(const struct compare *compare, enum verdict_answer answer)
{
    for (size_t i = 0; i < compare->n_bands; i++)
        if (compare->bands[i].answer == answer)
            return true;
    return false;
}

/* Return the most severe answer. `same` requires that all bands are the same. */
static enum verdict_answer answer_of_all(const struct compare *compare)
{
    static const enum verdict_answer order[] = {VERDICT_WORSE, VERDICT_MIXED,
                                                VERDICT_BETTER, VERDICT_NOT_ENOUGH_DATA,
                                                VERDICT_SAME};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (has_answer(compare, order[i]))
            return order[i];
    return VERDICT_NOT_ENOUGH_DATA;
}

void compare_judge_all(struct compare *compare)
{
    for (size_t i = 0; i < compare->n_bands; i++)
        answer_band(compare, i);
    compare->answer = answer_of_all(compare);
}
