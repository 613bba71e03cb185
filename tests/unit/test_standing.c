/* SPDX-License-Identifier: Apache-2.0 */
/* test_standing.c - whether a node is a suspect */
#include "server/watches/actions.h"

#include "common/base/json_util.h"
#include "tests/unit/test.h"

static bool take(json_t *node, bool is_named)
{
    return standing_take(node, "w", "r", "it is slow", is_named, "boot-1", 5000);
}

TEST(a_node_named_twice_in_ten_runs_is_a_suspect)
{
    for (int passes = 0; passes < 2 * STANDING_RUNS; passes++) {
        json_t *all = json_object(), *node = standing_of(all, "n");

        assert_false(take(node, true));
        for (int i = 0; i < passes; i++)
            assert_false(take(node, false));
        assert_int_equal(standing_is_clean(node), passes >= STANDING_RUNS);
        assert_int_equal(take(node, true), passes + 2 <= STANDING_RUNS);
        assert_int_equal(standing_is_suspect(node), passes + 2 <= STANDING_RUNS);
        json_decref(all);
    }
}

TEST(a_suspect_is_one_until_it_passes_and_begins_anew_then)
{
    json_t *all = json_object(), *node = standing_of(all, "n");

    take(node, true);
    assert_true(standing_is_open(node));
    take(node, false);
    assert_false(standing_is_open(node));
    assert_true(take(node, true));
    assert_false(take(node, true));
    assert_true(standing_is_open(node));
    assert_string_equal(json_get_str(node, "since", ""), "1970-01-01T00:00:05.000Z");
    assert_true(take(node, false));
    assert_true(standing_is_clean(node));
    assert_false(take(node, true));
    json_decref(all);
}
