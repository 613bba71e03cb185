/* SPDX-License-Identifier: Apache-2.0 */
/* test_target.c - decoding and splitting of request targets */
#include "server/http/target.h"
#include "tests/unit/test.h"

TEST(splits_and_decodes)
{
    static const struct {
        const char *uri, *path;
        const char *segments[4];
    } cases[] = {
        {"/", "/", {""}},
        {"/a/b", "/a/b", {"a", "b"}},
        {"/a%20b/c%2Fd", "/a b/c/d", {"a b", "c/d"}},
        {"/%c3%a9", "/\xc3\xa9", {"\xc3\xa9"}},
        {"/a+b", "/a+b", {"a+b"}},
        {"/a/", "/a/", {"a", ""}},
        {"//a", "//a", {"", "a"}},
        {"http://host:80/x?y=1", "/x", {"x"}},
        {"https://host?y=1", "", {NULL}},
        {"*", "*", {NULL}},
        {"", "", {NULL}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct target target;
        size_t n = 0;

        assert_int_equal(target_parse(&target, cases[i].uri, NULL), 0);
        assert_string_equal(target.path, cases[i].path);
        while (n < 4 && cases[i].segments[n])
            n++;
        assert_int_equal(target.n_segments, n);
        for (size_t j = 0; j < n; j++)
            assert_string_equal(target.segments[j], cases[i].segments[j]);
        target_release(&target);
    }
}

TEST(refuses_what_is_not_text)
{
    static const char *const uris[] = {
        "/%",         "/%4",           "/%zz",    "/a%00b",  "/%c3",    "/%c0%80",
        "/%ed%a0%80", "/%f5%80%80%80", "/?a=%0g", "/?a=%00", "/?%ff=1", "/\xff",
    };

    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
        struct target target;
        struct error err = {ERROR_NONE, ""};

        assert_int_equal(target_parse(&target, uris[i], &err), -1);
        assert_int_equal(err.code, ERROR_INVALID);
        assert_null(target.memory);
    }
}

TEST(finds_query_values)
{
    struct target target;

    assert_int_equal(target_parse(&target, "/x?a=1+2&b&a=3&=9&c=%26%3d&&d=a=b", NULL), 0);
    assert_string_equal(target_query(&target, "a"), "1 2");
    assert_string_equal(target_query(&target, "b"), "");
    assert_string_equal(target_query(&target, "c"), "&=");
    assert_string_equal(target_query(&target, "d"), "a=b");
    assert_null(target_query(&target, "e"));
    assert_int_equal(target.n_query, 6);
    target_release(&target);
}

TEST(limits_depth_and_pairs)
{
    struct target target;
    struct error err;
    char text[2 * TARGET_PAIRS_MAX + 8] = "/?";

    for (size_t i = 0; i < TARGET_PAIRS_MAX; i++)
        memcpy(text + 2 + 2 * i, "a&", 3);
    assert_int_equal(target_parse(&target, text, &err), 0);
    target_release(&target);
    memcpy(text + 2 + 2 * TARGET_PAIRS_MAX, "a", 2);
    assert_int_equal(target_parse(&target, text, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID);
    assert_int_equal(target_parse(&target, "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g", &err), 0);
    target_release(&target);
    assert_int_equal(target_parse(&target, "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", &err),
                     -1);
    assert_int_equal(err.code, ERROR_NOT_FOUND);
}
