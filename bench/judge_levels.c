/* SPDX-License-Identifier: Apache-2.0 */
/* judge_levels.c - measures false alarms and power of the decisions on series of runs
 *
 * usage: judge_levels [SERIES] [SEED]
 *
 * Each night has one level: a random effect of the run plus the median of 10 cases
 * with 0.3 % each. The effect is normal, with a deviation between runs and a
 * correlation between neighboring nights. Prints the findings of lasting.h and
 * change_points.h in SERIES series, with and without known changes. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/analysis/change_points.h"
#include "server/analysis/compare.h"
#include "server/analysis/lasting.h"
#include "tests/unit/level_noise.h"

#define NIGHTS 30
#define YEAR 365
#define HISTORY_MAX 1000

static const double between[] = {0.0, 0.005, 0.01, 0.02};
static const double steps[] = {0.02, 0.03, 0.05, 0.10};
static const double drifts[] = {0.001, 0.002};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static size_t n_series;
static double margin; /* stored as a logarithm */
static struct noise noise;

/* ---- Lasting changes ---- */

/* True if n nights after k reference nights show a lasting change. */
static bool lasts(const double *levels, size_t k, size_t n)
{
    struct level_split split;

    return lasting_find(levels, k + n, k, margin, &split);
}

static double reports_a_year(size_t k, double deviation, double correlation)
{
    double levels[20 + YEAR];
    size_t reports = 0;

    for (size_t i = 0; i < n_series; i++) {
        bool was = false;

        level_noise(&noise, levels, k + YEAR, deviation, correlation);
        for (size_t n = 1; n <= YEAR; n++) {
            bool is = lasts(levels, k, n);

            reports += is && !was;
            was = is;
        }
    }
    return (double)reports / (double)n_series;
}

static double found(size_t k, double deviation, double correlation, double step,
                    double drift)
{
    double levels[20 + NIGHTS];
    size_t hits = 0;

    for (size_t i = 0; i < n_series; i++) {
        bool is = false;

        level_noise(&noise, levels, k + NIGHTS, deviation, correlation);
        for (size_t n = 0; n < NIGHTS; n++)
            levels[k + n] += log1p(-step - drift * (double)(n + 1));
        for (size_t n = 1; n <= NIGHTS && !is; n++)
            is = lasts(levels, k, n);
        hits += is;
    }
    return 100.0 * (double)hits / (double)n_series;
}

static void print_lasting(double correlation)
{
    static const size_t references[] = {5, 10, 20};

    printf(
        "\nLasting changes, correlation %.1f: false reports a series and year; %% found "
        "in %d nights\n\n",
        correlation, NIGHTS);
    printf(
        "| between runs | K | false a year | step 2 %% | 3 %% | 5 %% | 10 %% | drift 0.1 "
        "%% a night | 0.2 %% |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t d = 0; d < COUNT(between); d++)
        for (size_t k = 0; k < COUNT(references); k++) {
            printf("| %.1f %% | %zu | %.3f ", between[d] * 100.0, references[k],
                   reports_a_year(references[k], between[d], correlation));
            for (size_t i = 0; i < COUNT(steps); i++)
                printf("| %.1f ",
                       found(references[k], between[d], correlation, steps[i], 0.0));
            for (size_t i = 0; i < COUNT(drifts); i++)
                printf("| %.1f ",
                       found(references[k], between[d], correlation, 0.0, drifts[i]));
            puts("|");
            fflush(stdout);
        }
}

/* ---- Trends ---- */

static const size_t lengths[] = {10, 20, 30, 100, 300};

static void print_false_trends(double least)
{
    static const double correlations[] = {0.0, 0.2, 0.4, 0.6};
    static double levels[HISTORY_MAX];
    struct change_point points[CHANGE_POINTS_MAX];

    printf(
        "\nTrends in which nothing changes, margin %.0f %%, between runs 1 %%: %% with a "
        "change\n\n| runs | correlation 0 | 0.2 | 0.4 | 0.6 |\n|---|---|---|---|---|\n",
        expm1(least) * 100.0);
    for (size_t n = 0; n < COUNT(lengths); n++) {
        printf("| %zu ", lengths[n]);
        for (size_t c = 0; c < COUNT(correlations); c++) {
            size_t hits = 0;
            double p;

            for (size_t i = 0; i < n_series; i++) {
                level_noise(&noise, levels, lengths[n], 0.01, correlations[c]);
                hits += change_points_find(levels, lengths[n], least, points, &p) > 0;
            }
            printf("| %.2f ", 100.0 * (double)hits / (double)n_series);
        }
        puts("|");
        fflush(stdout);
    }
}

/* Print the false reports per year if trends are checked every night. */
static void print_nightly_trends(void)
{
    static double levels[YEAR];
    struct change_point points[CHANGE_POINTS_MAX];
    size_t series = n_series / 10 + 1;

    printf(
        "\nTrends in which nothing changes, looked at every night: false reports a year\n"
        "\n| between runs | correlation 0 | 0.4 |\n|---|---|---|\n");
    for (size_t d = 0; d < COUNT(between); d++) {
        printf("| %.1f %% ", between[d] * 100.0);
        for (int c = 0; c < 2; c++) {
            size_t reports = 0;
            double p;

            for (size_t i = 0; i < series; i++) {
                bool was = false;

                level_noise(&noise, levels, YEAR, between[d], 0.4 * c);
                for (size_t n = 1; n <= YEAR; n++) {
                    bool is = change_points_find(levels, n, margin, points, &p) > 0;

                    reports += is && !was;
                    was = is;
                }
            }
            printf("| %.2f ", (double)reports / (double)series);
        }
        puts("|");
        fflush(stdout);
    }
}

/* Print how often a slowdown of only the last `nights` nights is found. */
static void print_found_trends(void)
{
    static const struct {
        double slower;
        size_t nights;
    } changes[] = {{0.05, 1}, {0.1, 1},  {0.5, 1},  {0.05, 2},
                   {0.03, 3}, {0.03, 5}, {0.03, 10}};
    static double levels[HISTORY_MAX];
    struct change_point points[CHANGE_POINTS_MAX];

    printf("\nTrends whose last runs are slower, between runs 1 %%: %% found, %% dated "
           "exactly, %% whose range of dates is right\n\n| runs |");
    for (size_t c = 0; c < COUNT(changes); c++)
        printf(" %zu by %.0f %% |", changes[c].nights, changes[c].slower * 100.0);
    printf("\n|---|---|---|---|---|---|---|---|\n");
    for (size_t n = 0; n < COUNT(lengths); n++) {
        printf("| %zu |", lengths[n]);
        for (size_t c = 0; c < COUNT(changes); c++) {
            size_t hits = 0, exact = 0, inside = 0, at = lengths[n] - changes[c].nights;
            double p;

            if (changes[c].nights + CHANGE_POINTS_LEVELS_MIN > lengths[n]) {
                printf(" - |");
                continue;
            }
            for (size_t i = 0; i < n_series; i++) {
                level_noise(&noise, levels, lengths[n], 0.01, 0.0);
                for (size_t k = at; k < lengths[n]; k++)
                    levels[k] += log1p(-changes[c].slower);
                if (change_points_find(levels, lengths[n], margin, points, &p) != 1)
                    continue;
                hits++;
                exact += points[0].split.at == at;
                inside += points[0].split.earliest <= at && at <= points[0].split.latest;
            }
            printf(" %.0f, %.0f, %.0f |", 100.0 * (double)hits / (double)n_series,
                   hits ? 100.0 * (double)exact / (double)hits : 0.0,
                   hits ? 100.0 * (double)inside / (double)hits : 0.0);
        }
        puts("");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    n_series = argc > 1 ? (size_t)atol(argv[1]) : 400;
    margin = log1p(COMPARE_SAME);
    noise.seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
    if (n_series == 0) {
        fprintf(stderr, "usage: judge_levels [SERIES] [SEED]\n");
        return 2;
    }
    print_lasting(0.0);
    print_lasting(0.4);
    print_false_trends(0.0);
    print_false_trends(margin);
    print_nightly_trends();
    print_found_trends();
    return 0;
}
