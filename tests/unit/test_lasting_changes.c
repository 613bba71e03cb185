/* SPDX-License-Identifier: Apache-2.0 */
/* test_lasting_changes.c - lasting changes of the figures of one run */
#include "server/analysis/lasting_changes.h"
#include "common/base/json_util.h"
#include "tests/unit/level_noise.h"
#include "tests/unit/test.h"

static struct noise noise = {.seed = 9};

/* n runs around 46 with 1 % between them; from `begin` on they have the factor. */
static void add_series(json_t *series, const char *figure, size_t n, size_t begin,
                       double factor)
{
    json_t *runs = json_array();
    double *levels = calloc(n + 1, sizeof(*levels));
    char run[16];

    level_noise(&noise, levels, n, 0.01, 0.0);
    for (size_t i = 0; i < n; i++) {
        snprintf(run, sizeof(run), "r%zu", i);
        json_array_append_new(
            runs,
            json_pack("[s, f]", run, 46.0 * exp(levels[i]) * (i < begin ? 1 : factor)));
    }
    json_array_append_new(series,
                          json_pack("{s:s, s:o}", "figure", figure, "runs", runs));
    free(levels);
}

static json_t *changes_of(json_t *series, const char *reference)
{
    json_t *changes = lasting_changes(series, reference, 0.02);

    assert_non_null(changes);
    json_decref(series);
    return changes;
}

TEST(largest_lasting_change_is_first_and_is_said)
{
    json_t *series = json_array(), *changes;
    const json_t *one;
    json_t *text;

    add_series(series, "all_reduce float32 bandwidth", 40, 99, 1.0);
    add_series(series, "all_gather float32 bandwidth in place", 40, 25, 0.95);
    add_series(series, "all_reduce float32 latency", 40, 25, 0.9);
    changes = changes_of(series, NULL);
    assert_int_equal(json_array_size(changes), 2);
    one = json_array_get(changes, 0);
    assert_string_equal(json_get_str(one, "figure", ""), "all_reduce float32 latency");
    assert_string_equal(json_get_str(one, "run", ""), "r25");
    assert_false(json_get_bool(one, "slower", true));
    assert_true(json_get_num(one, "low", 0) < -0.1 &&
                json_get_num(one, "high", 0) > -0.1);
    assert_true(json_get_bool(json_array_get(changes, 1), "slower", false));
    assert_true(lasting_changes_have_slower(changes));
    text = lasting_changes_text(changes);
    assert_non_null(strstr(json_string_value(text), "all_reduce float32 latency"));
    assert_non_null(strstr(json_string_value(text), "faster since run r25"));
    assert_non_null(strstr(json_string_value(text), "and 1 more"));
    json_decref(text);
    json_decref(changes);
}

/* The change is in the accepted run already: it is the new normal. */
TEST(reference_begins_with_the_accepted_run)
{
    json_t *series = json_array(), *changes;

    add_series(series, "all_reduce float32 bandwidth", 60, 20, 0.95);
    changes = lasting_changes(series, NULL, 0.02);
    assert_int_equal(json_array_size(changes), 1);
    assert_string_equal(json_get_str(json_array_get(changes, 0), "run", ""), "r20");
    json_decref(changes);
    changes = changes_of(series, "r20");
    assert_int_equal(json_array_size(changes), 0);
    assert_false(lasting_changes_have_slower(changes));
    json_decref(changes);
}

/* 0.2 % a night: a window that moves along would not see it. */
TEST(slow_drift_since_the_reference_is_found)
{
    json_t *series = json_array(), *changes, *runs, *pair;
    size_t i;

    add_series(series, "all_reduce float32 bandwidth", 40, 99, 1.0);
    runs = json_object_get(json_array_get(series, 0), "runs");
    json_array_foreach (runs, i, pair)
        json_array_set_new(pair, 1,
                           json_real(json_number_value(json_array_get(pair, 1)) *
                                     (i < 10 ? 1.0 : 1.0 - 0.002 * (double)(i - 9))));
    changes = changes_of(series, "r0");
    assert_int_equal(json_array_size(changes), 1);
    assert_true(json_get_bool(json_array_get(changes, 0), "slower", false));
    json_decref(changes);
}

TEST(few_runs_have_no_lasting_change)
{
    for (size_t n = 0; n < 8; n++) {
        json_t *series = json_array(), *changes;

        add_series(series, "all_reduce float32 bandwidth", n, 5, 0.5);
        changes = changes_of(series, NULL);
        assert_int_equal(json_array_size(changes), 0);
        json_decref(changes);
    }
}
