/* SPDX-License-Identifier: Apache-2.0 */
/* test_split.c - which ranks form a communicator together */
#include "common/spec/split.h"
#include "tests/unit/test.h"

/* Two nodes, the first with three ranks, the second with two. */
static const int node_of[] = {0, 0, 0, 1, 1};
static const int local_rank[] = {0, 1, 2, 0, 1};

static void expect_groups(const char *spec, const char *want)
{
    json_t *json = json_loads(spec, JSON_DECODE_ANY, NULL), *groups_json;
    struct split split = {SPLIT_NONE, 0};
    struct split_groups groups;
    struct error err;
    char *text;

    assert_int_equal(split_parse(json, &split, &err), 0);
    json_decref(json);
    split_form(&split, node_of, local_rank, 5, &groups);
    groups_json = split_groups_json(&groups);
    text = json_dumps(groups_json, JSON_COMPACT);
    assert_string_equal(text, want);
    free(text);
    json_decref(groups_json);
    split_release(&groups);
}

TEST(ranks_go_together_as_asked)
{
    expect_groups("\"none\"", "[[0,1,2,3,4]]");
    expect_groups("\"node\"", "[[0,1,2],[3,4]]");
    expect_groups("\"local_rank\"", "[[0,3],[1,4],[2]]");
    expect_groups("{\"by\":\"node\"}", "[[0,1,2],[3,4]]");
    expect_groups("{\"by\":\"mod\",\"value\":2}", "[[0,2,4],[1,3]]");
    expect_groups("{\"by\":\"div\",\"value\":2}", "[[0,1],[2,3],[4]]");
    expect_groups("{\"by\":\"and\",\"value\":2}", "[[0,1,4],[2,3]]");
    expect_groups("{\"by\":\"or\",\"value\":1}", "[[0,1],[2,3],[4]]");
    expect_groups("{\"by\":\"div\",\"value\":8}", "[[0,1,2,3,4]]");
}

TEST(places_and_sizes_are_of_the_group)
{
    struct split split = {SPLIT_MOD, 2};
    struct split_groups groups;

    split_form(&split, node_of, local_rank, 5, &groups);
    assert_int_equal(groups.n, 2);
    assert_int_equal(groups.sizes[0], 3);
    assert_int_equal(groups.sizes[1], 2);
    assert_int_equal(split_smallest(&groups), 2);
    assert_int_equal(groups.of[3], 1);
    assert_int_equal(groups.place[3], 1);
    assert_int_equal(groups.place[4], 2);
    split_release(&groups);
}

TEST(what_is_no_split_is_refused)
{
    static const char *const bad[] = {
        "1",
        "\"nodes\"",
        "null",
        "{}",
        "{\"by\":\"mod\"}",
        "{\"by\":\"mod\",\"value\":0}",
        "{\"by\":\"div\",\"value\":\"2\"}",
        "{\"by\":\"and\",\"value\":-1}",
        "{\"by\":\"node\",\"value\":1}",
        "{\"by\":\"mod\",\"value\":2,\"key\":1}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        json_t *json = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        struct split split = {SPLIT_NODE, 7};
        struct error err;

        if (split_parse(json, &split, &err) == 0)
            fail_msg("%s is taken", bad[i]);
        assert_int_equal(split.kind, SPLIT_NODE);
        json_decref(json);
    }
}

TEST(a_split_reads_back_as_it_was_written)
{
    static const struct split splits[] = {{SPLIT_NONE, 0},
                                          {SPLIT_NODE, 0},
                                          {SPLIT_LOCAL_RANK, 0},
                                          {SPLIT_OR, 3},
                                          {SPLIT_DIV, 8}};

    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        json_t *json = split_to_json(&splits[i]);
        struct split back = {SPLIT_NONE, -1};
        struct error err;

        assert_int_equal(split_parse(json, &back, &err), 0);
        assert_int_equal(back.kind, splits[i].kind);
        assert_int_equal(back.value, splits[i].value);
        json_decref(json);
    }
}
