/* compare_judge.c - from the values of cases to an answer */
#include "server/analysis/compare_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A change of 2 % is resolved by an interval of half that width each way: then no change
 * is called the same, and one of 2 % is found, in 19 of 20 comparisons. */
#define RESOLVING (COMPARE_SAME / 2)

static double part_of(double difference, double base, bool is_linear)
{
    if (!is_linear)
        return expm1(difference);
    return fabs(base) > 0 ? difference / fabs(base) : (double)NAN;
}

static void test(const struct compare_sides *sides, double *base, double *head,
                 struct stats_effect *effect)
{
    size_t n = sides->n_base, m = sides->n_head;

    if (n < 2 || m < 2) {
        *effect =
            (struct stats_effect){.estimate = stats_mean(head, m) - stats_mean(base, n),
                                  .error = (double)NAN,
                                  .low = (double)NAN,
                                  .high = (double)NAN,
                                  .p = (double)NAN};
    } else if (sides->is_paired) {
        for (size_t i = 0; i < n; i++)
            head[i] -= base[i];
        stats_paired(head, n, effect);
    } else {
        stats_separate(base, n, head, m, effect);
    }
}

int compare_judge_change(const struct compare_sides *sides, const double *values,
                         bool is_linear, struct compare_change *out,
                         struct stats_effect *effect)
{
    size_t n = sides->n_base, m = sides->n_head;
    double *copy = malloc((n + m) * sizeof(*copy)), base, head;
    struct stats_effect own;

    if (!effect)
        effect = &own;
    if (!copy)
        return -1;
    memcpy(copy, values, (n + m) * sizeof(*copy));
    base = stats_mean(copy, n);
    head = stats_mean(copy + n, m);
    test(sides, copy, copy + n, effect);
    free(copy);
    *out = (struct compare_change){.base = is_linear ? base : exp(base),
                                   .head = is_linear ? head : exp(head),
                                   .change = part_of(effect->estimate, base, is_linear),
                                   .low = part_of(effect->low, base, is_linear),
                                   .high = part_of(effect->high, base, is_linear),
                                   .p = effect->p};
    return 0;
}

/* ---- Two states ---- */

static size_t count_upper(const double *values, size_t n, double split)
{
    size_t upper = 0;

    for (size_t i = 0; i < n; i++)
        upper += values[i] > split;
    return upper;
}

/* Pairs whose cases were in different states leave a difference that is of the states,
 * but for those that the trimmed mean leaves out anyway. */
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

/* Whether states stand in the way of a verdict. Where each side keeps to one of the two,
 * it is the sides that differ. */
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

static size_t needed(const struct compare_sides *sides, const struct compare_band *band,
                     const struct stats_effect *effect)
{
    size_t n = sides->n_base < sides->n_head ? sides->n_base : sides->n_head;
    double half = log1p(RESOLVING);

    if (!(effect->error >= 0))
        return 0;
    if (band->is_linear)
        half = RESOLVING * fabs(band->change.base);
    return half > 0 ? stats_repeats(effect, n, half, 0.95) : 0;
}

int compare_judge_band(const struct compare_sides *sides, const double *values,
                       struct compare_band *band)
{
    size_t n = sides->n_base + sides->n_head;
    struct stats_effect effect;

    if (compare_judge_change(sides, values, band->is_linear, &band->change, &effect) ||
        (!band->is_linear && states_find(values, n, &band->states)))
        return -1;
    band->answer = VERDICT_NOT_ENOUGH_DATA;
    band->reason = COMPARE_NOISE;
    if (sides->n_base < COMPARE_CASES_MIN || sides->n_head < COMPARE_CASES_MIN)
        band->reason = COMPARE_FEW;
    else if (states_matter(sides, values, effect.trimmed, band))
        band->reason = COMPARE_STATES;
    if (band->reason == COMPARE_NOISE)
        band->repeats_needed = needed(sides, band, &effect);
    return 0;
}

/* Of a mean of 0 nothing is a part, and nothing that a double can't hold is one. */
static bool can_judge(const struct compare_band *band)
{
    const struct compare_change *change = &band->change;

    return band->reason == COMPARE_NOISE && isfinite(change->change) &&
           isfinite(change->low) && isfinite(change->high) && isfinite(change->p);
}

static void answer_band(struct compare_band *band)
{
    const struct compare_change *change = &band->change;

    if (!can_judge(band))
        return;
    if (change->low > -COMPARE_SAME && change->high < COMPARE_SAME)
        band->answer = VERDICT_SAME;
    else if (band->p_holm < COMPARE_LEVEL)
        band->answer = (change->change > 0) == band->higher_is_better ? VERDICT_BETTER
                                                                      : VERDICT_WORSE;
    else
        return;
    band->reason = COMPARE_CLEAR;
}

static bool has_answer(const struct compare *compare, enum verdict_answer answer)
{
    for (size_t i = 0; i < compare->n_bands; i++)
        if (compare->bands[i].answer == answer)
            return true;
    return false;
}

/* What must not be overlooked first; `same` only if all are. */
static enum verdict_answer answer_of_all(const struct compare *compare)
{
    static const enum verdict_answer order[] = {VERDICT_WORSE, VERDICT_BETTER,
                                                VERDICT_NOT_ENOUGH_DATA, VERDICT_SAME};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (has_answer(compare, order[i]))
            return order[i];
    return VERDICT_NOT_ENOUGH_DATA;
}

int compare_judge_all(struct compare *compare)
{
    size_t n = compare->n_bands;
    double *p = calloc(2 * n + 1, sizeof(*p));

    if (!p)
        return -1;
    /* A band that can't be judged is in the family all the same. */
    for (size_t i = 0; i < n; i++)
        p[i] = can_judge(&compare->bands[i]) ? compare->bands[i].change.p : 1;
    if (stats_holm(p, n, p + n)) {
        free(p);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        compare->bands[i].p_holm = p[n + i];
        answer_band(&compare->bands[i]);
    }
    free(p);
    compare->answer = answer_of_all(compare);
    return 0;
}
