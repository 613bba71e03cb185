/* SPDX-License-Identifier: Apache-2.0 */
/* test_placed.c - the nodes of a case as its case file has them */
#include "common/base/json_util.h"
#include "common/spec/placed.h"
#include "tests/unit/test.h"

struct node {
    const char *name;
    int ranks;
};

/* What becomes of the nodes, and that they come out of it again. */
static void check(const struct node *nodes, size_t n, const char *expected)
{
    json_t *list = json_array(), *item;
    struct placed placed;
    size_t i, k = 0;
    char *text;

    placed_init(&placed, list);
    for (i = 0; i < n; i++)
        assert_int_equal(placed_add(&placed, nodes[i].name, nodes[i].ranks), 0);
    text = json_text(list);
    assert_string_equal(text, expected);
    json_array_foreach (list, i, item) {
        struct placed entry;

        assert_int_equal(placed_read(item, &entry), 0);
        for (long at = 0; at < placed_count(&entry); at++, k++) {
            char name[64];

            placed_name(&entry, at, name, sizeof(name));
            assert_true(k < n);
            assert_string_equal(name, nodes[k].name);
            assert_int_equal(entry.ranks, nodes[k].ranks);
        }
    }
    assert_int_equal(k, n);
    free(text);
    json_decref(list);
}

#define CHECK(nodes, expected) check(nodes, sizeof(nodes) / sizeof((nodes)[0]), expected)

TEST(names_that_count_up_are_one)
{
    static const struct node up[] = {{"n8", 2}, {"n9", 2}, {"n10", 2}, {"n11", 2}};
    static const struct node wide[] = {{"g-098", 8}, {"g-099", 8}, {"g-100", 8}};
    static const struct node bare[] = {{"1", 1}, {"2", 1}};

    CHECK(up, "[[\"n[8-11]\",2]]");
    CHECK(wide, "[[\"g-[098-100]\",8]]");
    CHECK(bare, "[[\"[1-2]\",1]]");
}

TEST(others_are_not)
{
    static const struct node ranks[] = {{"n1", 2}, {"n2", 1}, {"n3", 1}};
    static const struct node gaps[] = {{"n1", 1}, {"n3", 1}, {"m4", 1}, {"login", 1}};
    static const struct node widths[] = {{"n9", 1}, {"n010", 1}, {"n09", 1}, {"n10", 1}};
    static const struct node same[] = {{"a", 1}, {"a1", 1}, {"a-1", 1}, {"a-2-1", 1}};
    static const struct node large[] = {{"n999999999", 1}, {"n1000000000", 1}};

    CHECK(ranks, "[[\"n1\",2],[\"n[2-3]\",1]]");
    CHECK(gaps, "[[\"n1\",1],[\"n3\",1],[\"m4\",1],[\"login\",1]]");
    CHECK(widths, "[[\"n9\",1],[\"n010\",1],[\"n[09-10]\",1]]");
    CHECK(same, "[[\"a\",1],[\"a1\",1],[\"a-1\",1],[\"a-2-1\",1]]");
    CHECK(large, "[[\"n[999999999-1000000000]\",1]]");
}

TEST(what_is_no_entry_is_refused)
{
    static const char *const texts[] = {
        "[\"n1\"]",        "[\"n1\",0]",          "[1,1]",
        "[\"n[1]\",1]",    "[\"n[2-1]\",1]",      "[\"n[1-2\",1]",
        "[\"n[1-2]x\",1]", "[\"n[-2]\",1]",       "[\"n[1-]\",1]",
        "\"n1\"",          "[\"n[1-2000000]\",1]"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *entry = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        struct placed placed;

        assert_non_null(entry);
        assert_int_equal(placed_read(entry, &placed), -1);
        json_decref(entry);
    }
}
