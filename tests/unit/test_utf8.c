/* SPDX-License-Identifier: Apache-2.0 */
/* test_utf8.c - which bytes are UTF-8 */
#include "common/base/utf8.h"
#include "tests/unit/test.h"

static const struct {
    const char *bytes;
    size_t len;
    size_t sequence;
} cases[] = {
    {"", 0, 0},
    {"\0", 1, 0},
    {"a", 1, 1},
    {"\x7f", 1, 1},
    {"\x80", 1, 0},
    {"\xc3\xa4", 2, 2},
    {"\xc3", 1, 0},
    {"\xc3(", 2, 0},
    {"\xc1\xbf", 2, 0},     /* overlong */
    {"\xe0\x9f\xbf", 3, 0}, /* overlong */
    {"\xe0\xa0\x80", 3, 3},
    {"\xed\x9f\xbf", 3, 3},
    {"\xed\xa0\x80", 3, 0}, /* surrogate */
    {"\xe2\x82\xac", 3, 3},
    {"\xe2\x82", 2, 0},
    {"\xe2\x82(", 3, 0},
    {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
    {"\xf0\x90\x80\x80", 4, 4},
    {"\xf4\x8f\xbf\xbf", 4, 4},
    {"\xf4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
    {"\xf5\x80\x80\x80", 4, 0},
    {"\xff", 1, 0},
};

TEST(measures_each_sequence)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (utf8_sequence(cases[i].bytes, cases[i].len) != cases[i].sequence)
            fail_msg("case %zu", i);
}

TEST(cleans_what_was_cut_inside_a_character)
{
    char text[] = "gr\xc3\xbc\xc3\x9f \xe2\x82";
    char fine[] = "\xe2\x82\xac 5";
    char latin[] = "\xe4"
                   "bc";

    utf8_clean(text);
    assert_string_equal(text, "gr\xc3\xbc\xc3\x9f ??");
    utf8_clean(fine);
    assert_string_equal(fine, "\xe2\x82\xac 5");
    utf8_clean(latin);
    assert_string_equal(latin, "?bc");
}

TEST(a_cut_is_made_between_characters)
{
    static const struct {
        const char *text;
        int most, fits;
    } cuts[] = {
        {"", 0, 0},
        {"abc", 2, 2},
        {"abc", 60, 3},
        {"a\xc3\xa9", 1, 1},
        {"a\xc3\xa9", 2, 1},
        {"a\xc3\xa9", 3, 3},
        {"\xe2\x82\xac", 1, 0},
        {"\xe2\x82\xac", 2, 0},
        {"\xe2\x82\xac", 9, 3},
        {"\xf0\x90\x80\x80", 3, 0},
        {"\xf0\x90\x80\x80z", 4, 4},
    };
    char text[] = "caf\xc3\xa9\xe2\x82";

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
        if (utf8_fit(cuts[i].text, cuts[i].most) != cuts[i].fits)
            fail_msg("cut %zu: %d", i, utf8_fit(cuts[i].text, cuts[i].most));
    utf8_trim(text);
    assert_string_equal(text, "caf\xc3\xa9");
    utf8_trim(text);
    assert_string_equal(text, "caf\xc3\xa9");
}
