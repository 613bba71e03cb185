/* SPDX-License-Identifier: Apache-2.0 */
/* compare_mixed.c - finds bands in which each side is faster at some sizes */
#include <math.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "server/analysis/compare_judge.h"
#include "server/analysis/level.h"

/* A size at which one side is certainly faster. */
struct sure {
    int64_t size;
    bool is_head_faster;
    double gain; /* gain of the faster side: 1 means twice as fast */
};

static int compare_sizes(const void *a, const void *b)
{
    const struct sure *left = a, *right = b;

    return (left->size > right->size) - (left->size < right->size);
}

static size_t count_sizes(const struct compare *compare, size_t band)
{
    size_t n = 0;

    for (size_t i = 0; i < compare->n_sizes; i++)
        n += compare->sizes[i].band == band;
    return n;
}

/* Return true if a size's change exceeds the margin and is not due to chance. The
 * confidence of the interval accounts for all n sizes of the band. */
static bool is_sure(const struct compare *compare, const struct compare_size *size,
                    size_t n)
{
    double confidence =
        compare->by_run ? level_confidence(n) : 1 - (1 - COMPARE_CONFIDENCE) / (double)n;
    double low, high;

    stats_interval(&size->effect, confidence, &low, &high);
    return fabs(size->change.change) > compare->margin && (low > 0 || high < 0);
}

/* Return the gain of the faster side. Half the time and twice the time are the same gain
 * for opposite sides. */
static double gain_of(const struct compare_band *band, double change)
{
    return band->is_linear ? fabs(change) : expm1(fabs(log1p(change)));
}

/* Divide the sizes into stretches. Keep no stretch if there would be too many, or if rows
 * of one size contradict each other, such as in-place and out-of-place rows. */
static void find_stretches(struct compare_band *band, const struct sure *sure, size_t n)
{
    struct compare_stretch *last = NULL;

    for (size_t i = 0; i < n; i++) {
        if (last && last->is_head_faster == sure[i].is_head_faster) {
            last->to = sure[i].size;
            last->least = fmin(last->least, sure[i].gain);
            last->most = fmax(last->most, sure[i].gain);
            continue;
        }
        if ((last && last->to == sure[i].size) ||
            band->n_stretches == COMPARE_STRETCHES_MAX) {
            band->n_stretches = 0;
            return;
        }
        last = &band->stretches[band->n_stretches++];
        *last = (struct compare_stretch){sure[i].is_head_faster, sure[i].size,
                                         sure[i].size, sure[i].gain, sure[i].gain};
    }
}

void compare_judge_sizes(struct compare *compare, size_t number)
{
    struct compare_band *band = &compare->bands[number];
    size_t n = count_sizes(compare, number), found = 0, faster = 0;
    struct sure *sure = memory_zeroed(n + 1, sizeof(*sure), "a comparison");

    for (size_t i = 0; i < compare->n_sizes; i++) {
        const struct compare_size *size = &compare->sizes[i];
        bool is_better = (size->change.change > 0) == band->higher_is_better;

        if (size->band != number || size->size < 0 || !is_sure(compare, size, n))
            continue;
        sure[found++] =
            (struct sure){size->size, is_better, gain_of(band, size->change.change)};
        faster += is_better;
    }
    if (faster > 0 && faster < found) {
        qsort(sure, found, sizeof(*sure), compare_sizes);
        find_stretches(band, sure, found);
        band->answer = VERDICT_MIXED;
    }
    free(sure);
}
