/* change_threshold.c - the table of server/analysis/change_points.c: the 99 % quantile of
 * the highest score in series in which nothing changes: change_threshold SERIES [SEED] */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/analysis/change_points.h"

static const size_t lengths[] = {10,  11,  12,  13,  14,  15,   16,   18,  20,  22,
                                 25,  28,  32,  36,  40,  50,   64,   80,  100, 140,
                                 200, 300, 400, 600, 800, 1000, 1400, 2000};

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014): ranks alone count, so any distribution
 * does. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t series = argc > 1 ? (size_t)atol(argv[1]) : 0;
    uint64_t state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    double values[CHANGE_POINTS_VALUES_MAX];
    double *scores = calloc(series + 1, sizeof(*scores));

    if (series < 100 || !scores) {
        fprintf(stderr, "usage: change_threshold SERIES [SEED], at least 100\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t n = lengths[i], count = n > 200 ? series / 10 : series;

        for (size_t k = 0; k < count; k++) {
            for (size_t j = 0; j < n; j++)
                values[j] = uniform(&state);
            scores[k] = change_points_score(values, n);
        }
        qsort(scores, count, sizeof(*scores), rising);
        /* Up, since scores of few values are few, and the quantile is one of them. */
        printf("{%zu, %.3f}, ", n, ceil(scores[count * 99 / 100] * 1e3) / 1e3);
        fflush(stdout);
    }
    puts("");
    free(scores);
    return 0;
}
