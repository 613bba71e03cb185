/* SPDX-License-Identifier: Apache-2.0 */
/* test_unreached.c - who could not reach whom: which nodes are named for it */
#include "common/base/json_util.h"
#include "server/analysis/unreached.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

static bool add(json_t *ways, const char *over, const char *from, const char *to)
{
    json_t *way =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s}", "over", over, "from",
                  from, "to", to, "rank", 1, "peer", 0, "address", "10.0.0.1",
                  "interface", "eth0", "via", "eth1", "reason", "No route to host");
    bool is_new = unreached_add(ways, way);

    json_decref(way);
    return is_new;
}

static const json_t *check_at(const json_t *verdict, size_t i)
{
    return json_array_get(json_object_get(json_object_get(verdict, "evidence"), "checks"),
                          i);
}

/* Takes the ways. */
static void assert_said(json_t *ways, const char *const *sentences)
{
    json_t *verdict = unreached_verdict("host", ways);
    size_t n = 0;

    for (; sentences[n]; n++)
        assert_string_equal(json_get_str(check_at(verdict, n), "sentence", ""),
                            sentences[n]);
    assert_null(check_at(verdict, n));
    assert_string_equal(json_get_str(verdict, "kind", ""), "preflight");
    assert_string_equal(json_get_str(verdict, "answer", ""), "finding");
    json_decref(verdict);
    json_decref(ways);
}

TEST(who_cannot_be_reached_is_named_once_for_all_that_tried)
{
    json_t *ways = json_array();

    add(ways, "ranks", "b", "a");
    add(ways, "ranks", "c", "a");
    add(ways, "ranks", "d", "a");
    assert_said(ways, (const char *const[]){
                          "b and 2 more cannot reach a at 10.0.0.1 (eth0), where its "
                          "ranks listen: No route to host",
                          NULL});
}

TEST(who_reaches_nobody_is_named_and_not_the_others)
{
    json_t *ways = json_array();

    add(ways, "nccl", "d", "a");
    add(ways, "nccl", "d", "b");
    add(ways, "nccl", "d", "c");
    json_t *verdict = unreached_verdict("nccl", ways);
    assert_string_equal(json_string_value(json_array_get(
                            json_object_get(check_at(verdict, 0), "nodes"), 0)),
                        "d");
    assert_non_null(
        strstr(json_get_str(check_at(verdict, 0), "command", ""), "NCCL_SOCKET_IFNAME"));
    json_decref(verdict);
    assert_said(ways, (const char *const[]){
                          "d cannot reach a at 10.0.0.1 (eth0) and 2 more, where "
                          "NCCL will listen: No route to host",
                          NULL});
}

TEST(two_causes_are_two_findings_the_greater_first)
{
    json_t *ways = json_array();

    add(ways, "ranks", "f", "e");
    add(ways, "ranks", "b", "a");
    add(ways, "ranks", "c", "a");
    json_t *verdict = unreached_verdict("host", ways);
    const json_t *told = json_object_get(json_object_get(verdict, "evidence"), "ways");
    assert_string_equal(json_get_str(json_array_get(told, 0), "node", ""), "a");
    assert_string_equal(json_get_str(json_array_get(told, 2), "node", ""), "e");
    assert_int_equal(json_array_size(told), 3);
    assert_int_equal(json_array_size(json_object_get(verdict, "nodes")), 2);
    assert_mentions(json_get_str(verdict, "sentence", ""),
                    "2 findings: reach: b 1 a 10.0.0.1 (eth0) No route to host");
    json_decref(verdict);
    json_decref(ways);
}

TEST(a_pair_of_nodes_is_told_once_and_many_are_cut)
{
    json_t *ways = json_array(), *verdict;
    char name[24];

    assert_true(add(ways, "ranks", "b", "a"));
    assert_false(add(ways, "ranks", "b", "a"));
    assert_true(add(ways, "nccl", "b", "a"));
    assert_true(add(ways, "ranks", "a", "b"));
    for (int i = 0; i < UNREACHED_WAYS_MAX; i++) {
        char other[24];
        snprintf(name, sizeof(name), "from-%d", i);
        snprintf(other, sizeof(other), "to-%d", i);
        assert_int_equal(add(ways, "ranks", name, other), i < UNREACHED_WAYS_MAX - 3);
    }
    verdict = unreached_verdict("host", ways);
    assert_non_null(check_at(verdict, UNREACHED_FINDINGS_MAX - 1));
    assert_null(check_at(verdict, UNREACHED_FINDINGS_MAX));
    json_decref(verdict);
    json_decref(ways);
}
