/* SPDX-License-Identifier: Apache-2.0 */
/* test_stats.c - the statistics, beside what SciPy makes of the same values */
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

#include "server/analysis/stats.h"

#define VALUES_MAX 64

VECTORS("stats.json");

static double number(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

static double member(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* SciPy's quantiles are good for a part in 1e9, and an end of an interval that is near 0
 * has less. */
static void near(double got, double want)
{
    assert_near(got, want, 1e-8 * (fabs(want) + 1e-6));
}

static size_t read_values(const json_t *list, double *values)
{
    size_t n = json_array_size(list);

    assert_in_range(n, 2, VALUES_MAX);
    for (size_t i = 0; i < n; i++)
        values[i] = number(list, i);
    return n;
}

TEST(distributions_are_those_of_scipy)
{
    json_t *item;
    size_t i;

    json_array_foreach (vectors_list(*state, "beta"), i, item) {
        near(stats_beta(number(item, 0), number(item, 1), number(item, 2)),
             number(item, 3));
    }
    json_array_foreach (vectors_list(*state, "t_cdf"), i, item)
        near(stats_t_cdf(number(item, 0), number(item, 1)), number(item, 2));
    json_array_foreach (vectors_list(*state, "t_quantile"), i, item)
        near(stats_t_quantile(number(item, 0), number(item, 1)), number(item, 2));
}

TEST(a_quantile_is_where_the_distribution_has_its_p)
{
    for (int i = 0; i < 14; i++) {
        double df = pow(1.7, i);

        for (int k = 1; k < 96; k++) {
            double p = 0.0104 * k;

            near(stats_t_cdf(stats_t_quantile(p, df), df), p);
        }
    }
}

TEST(pairs_are_tested_as_scipy_does)
{
    json_t *item;
    size_t i;

    json_array_foreach (vectors_list(*state, "paired"), i, item) {
        double values[VALUES_MAX];
        size_t n = read_values(json_object_get(item, "values"), values);
        const json_t *interval = json_object_get(item, "interval");
        struct stats_effect effect;

        stats_paired(values, n, &effect);
        near(effect.estimate, member(item, "estimate"));
        near(effect.error, member(item, "error"));
        near(effect.df, member(item, "df"));
        near(effect.p, member(item, "p"));
        near(effect.low, number(interval, 0));
        near(effect.high, number(interval, 1));
        assert_int_equal(effect.trimmed, (size_t)member(item, "trimmed"));
    }
}

TEST(separate_sides_are_tested_as_scipy_does)
{
    json_t *item;
    size_t i;

    json_array_foreach (vectors_list(*state, "separate"), i, item) {
        double base[VALUES_MAX], head[VALUES_MAX];
        size_t n = read_values(json_object_get(item, "base"), base);
        size_t m = read_values(json_object_get(item, "head"), head);
        struct stats_effect effect;

        stats_separate(base, n, head, m, &effect);
        near(effect.estimate / effect.error, member(item, "t"));
        near(effect.p, member(item, "p"));
        assert_near(stats_t_cdf(-fabs(member(item, "t")), effect.df) * 2,
                    member(item, "p"), 1e-9);
    }
}

TEST(one_value_far_off_hides_no_shift_of_ten)
{
    double values[] = {0.031, 0.028, 0.035, 0.030, 0.026,
                       0.033, 1.1,   0.029, 0.032, 0.027};
    struct stats_effect effect;

    stats_paired(values, 10, &effect);
    assert_int_equal(effect.trimmed, 1);
    assert_near(effect.estimate, 0.030, 0.001);
    assert_true(effect.low > 0.02 && effect.high < 0.04);
    assert_true(effect.p < 0.001);
}

TEST(values_that_are_all_alike_leave_no_doubt)
{
    double none[] = {0, 0, 0}, some[] = {0.5, 0.5, 0.5};
    struct stats_effect effect;

    stats_paired(none, 3, &effect);
    assert_near(effect.p, 1, 0);
    assert_near(effect.high - effect.low, 0, 0);
    stats_paired(some, 3, &effect);
    assert_near(effect.p, 0, 0);
    assert_near(effect.low, 0.5, 0);
}

static void assert_nothing_said(const struct stats_effect *effect)
{
    assert_true(isnan(effect->error) && isnan(effect->p));
    assert_true(isnan(effect->low) && isnan(effect->high));
}

TEST(squares_too_great_or_too_small_for_a_double_stop_nothing)
{
    double none[] = {0, 0, 0}, great[] = {0, 1e160, 1e160}, small[] = {0, 1e-100, 0};
    double ends[] = {1e308, -1e308, 1e308}, near_it[] = {1.5e308, 1.6e308, 1.7e308};
    struct stats_effect effect;

    stats_separate(none, 3, great, 3, &effect);
    assert_nothing_said(&effect);
    stats_separate(great, 3, ends, 3, &effect);
    assert_nothing_said(&effect);
    stats_paired(ends, 3, &effect);
    assert_nothing_said(&effect);
    stats_paired(near_it, 3, &effect);
    assert_nothing_said(&effect);
    stats_separate(none, 3, small, 3, &effect);
    assert_near(effect.df, 2, 1e-12);
    assert_near(effect.estimate / effect.error, 1, 1e-12);
    assert_near(effect.p, 0.42264973, 1e-8);
}

/* The half width of n pairs is t(0.975, n - 1) s / sqrt(n). */
/* The values and the outcome are those of table 1 in the authors' paper. */
TEST(discoveries_are_those_of_benjamini_and_hochberg)
{
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
                               0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
                               0.4262, 0.5719, 0.6528, 0.7590, 1.0000};

    assert_true(stats_discoveries(p, 15, 0.05) == 0.0095);
    assert_true(stats_discoveries(p + 9, 6, 0.05) == -1.0);
    assert_true(stats_discoveries(p, 1, 0.0001) == 0.0001);
    assert_true(stats_discoveries(p, 0, 0.05) == -1.0);
}

TEST(repeats_are_as_many_as_bring_the_interval_down)
{
    double values[] = {-0.02, 0, 0.02};
    struct stats_effect effect;
    size_t n;

    stats_paired(values, 3, &effect);
    n = stats_repeats(&effect, 3, 0.01, 0.95);
    assert_in_range(n, 15, 21);
    assert_int_equal(stats_repeats(&effect, 3, 1, 0.95), 3);
    assert_int_equal(stats_repeats(&effect, 3, 1e-6, 0.95), STATS_REPEATS_MAX);
    for (n = 4; n < STATS_REPEATS_MAX; n = n * 3 / 2) {
        double half = stats_t_quantile(0.975, 2.0 * (double)n / 3) * effect.error *
                      sqrt(3.0 / (double)n);

        assert_int_equal(stats_repeats(&effect, 3, half * (1 + 1e-9), 0.95), n);
        assert_int_equal(stats_repeats(&effect, 3, half * (1 - 1e-9), 0.95), n + 1);
    }
}
