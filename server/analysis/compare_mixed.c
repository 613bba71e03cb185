/* compare_mixed.c - a band whose sizes are faster on either side: where they cross */
#include <math.h>
#include <stdlib.h>

#include "server/analysis/compare_judge.h"
#include "server/analysis/level.h"

/* A size at which one side is surely faster. */
struct sure {
    int64_t size;
    bool is_head_faster;
    double change;
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

/* Beyond the margin, and not by chance: each size has an interval that holds for all
 * sizes of the band together. */
static bool is_sure(const struct compare *compare, const struct compare_size *size,
                    size_t n)
{
    double confidence =
        compare->by_run ? level_confidence(n) : 1 - (1 - COMPARE_CONFIDENCE) / (double)n;
    double low, high;

    stats_interval(&size->effect, confidence, &low, &high);
    return fabs(size->change.change) > compare->margin && (low > 0 || high < 0);
}

static void add(struct compare_band *band, const struct sure *sure)
{
    size_t n = band->n_stretches;
    struct compare_stretch *last = n > 0 ? &band->stretches[n - 1] : NULL;

    if (last && last->is_head_faster == sure->is_head_faster) {
        last->to = sure->size;
        last->least = fmin(last->least, sure->change);
        last->most = fmax(last->most, sure->change);
    } else if (n < COMPARE_STRETCHES_MAX) {
        band->stretches[band->n_stretches++] = (struct compare_stretch){
            sure->is_head_faster, sure->size, sure->size, sure->change, sure->change};
    }
}

int compare_judge_sizes(struct compare *compare, size_t number)
{
    struct compare_band *band = &compare->bands[number];
    size_t n = count_sizes(compare, number), found = 0, faster = 0;
    struct sure *sure = n > 0 ? malloc(n * sizeof(*sure)) : NULL;

    if (n > 0 && !sure)
        return -1;
    for (size_t i = 0; i < compare->n_sizes; i++) {
        const struct compare_size *size = &compare->sizes[i];
        bool is_better = (size->change.change > 0) == band->higher_is_better;

        if (size->band != number || size->size < 0 || !is_sure(compare, size, n))
            continue;
        sure[found++] = (struct sure){size->size, is_better, fabs(size->change.change)};
        faster += is_better;
    }
    if (faster > 0 && faster < found) {
        qsort(sure, found, sizeof(*sure), compare_sizes);
        for (size_t i = 0; i < found; i++)
            add(band, &sure[i]);
        band->answer = VERDICT_MIXED;
    }
    free(sure);
    return 0;
}
