/* SPDX-License-Identifier: Apache-2.0 */
/* test_headline.c - medians of values as they come, and the one figure of a run */
#include "common/base/json_util.h"
#include "common/result/headline.h"
#include "tests/unit/test.h"
#include "tests/unit/vectors.h"

VECTORS("aggregates.json");

TEST(the_median_is_the_middle_at_any_number)
{
    json_t *list = vectors_list(*state, "medians"), *item, *value;
    size_t i, k;

    json_array_foreach (list, i, item) {
        struct median median = {0};

        assert_near(median_of(&median), 0.0, 1e-12);
        json_array_foreach (json_array_get(item, 0), k, value)
            median_add(&median, json_number_value(value));
        assert_int_equal(median.n, k);
        assert_near(median_of(&median), json_number_value(json_array_get(item, 1)),
                    1e-12);
        median_release(&median);
    }
}

TEST(rising_and_falling_values_have_the_same_median)
{
    struct median up = {0}, down = {0};

    for (int i = 0; i < 1000; i++) {
        median_add(&up, i);
        median_add(&down, 999 - i);
        assert_near(median_of(&up), i / 2.0, 1e-12);
        assert_near(median_of(&down), 999 - i / 2.0, 1e-12);
    }
    median_release(&up);
    median_release(&down);
}

TEST(the_headline_is_of_the_largest_size_of_the_first_series)
{
    json_t *list = vectors_list(*state, "headlines"), *item, *row;
    char text[HEADLINE_TEXT_MAX];
    size_t i, k;

    json_array_foreach (list, i, item) {
        struct headline headline = {0};
        json_t *json = headline_json(&headline);

        assert_true(json_is_null(json));
        json_decref(json);
        json_array_foreach (json_object_get(item, "rows"), k, row) {
            json_t *about = json_pack("{s:O, s:s}", "series", json_array_get(row, 0),
                                      "collective", "broadcast");

            headline_add(&headline, about, json_integer_value(json_array_get(row, 1)),
                         json_number_value(json_array_get(row, 2)),
                         &(struct certainty){0});
            json_decref(about);
        }
        json = headline_json(&headline);
        assert_int_equal(json_get_int(json, "size", -1), json_get_int(item, "size", 0));
        assert_near(json_get_num(json, "busbw_gbs", -1),
                    json_get_num(item, "busbw_gbs", 0), 1e-12);
        assert_string_equal(json_get_str(json, "collective", ""), "broadcast");
        assert_string_equal(headline_text(&headline, text),
                            json_get_str(item, "text", "?"));
        json_decref(json);
        headline_release(&headline);
    }
}

TEST(a_single_rank_has_no_headline)
{
    struct headline headline = {0};
    json_t *about = json_pack("{s:i, s:s}", "series", 0, "collective", "all_reduce"),
           *json;

    headline_add(&headline, about, 1024, 0.0, &(struct certainty){0});
    json = headline_json(&headline);
    assert_true(json_is_null(json));
    json_decref(json);
    json_decref(about);
    headline_release(&headline);
}
