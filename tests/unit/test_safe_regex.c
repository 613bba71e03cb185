/* SPDX-License-Identifier: Apache-2.0 */
/* test_safe_regex.c - regular expressions that someone else wrote */
#include "common/base/safe_regex.h"
#include "tests/unit/test.h"

static struct safe_regex *compile(const char *pattern, bool is_whole)
{
    struct error err;
    struct safe_regex *regex = safe_regex_compile(pattern, is_whole, &err);

    if (!regex)
        fail_msg("%s: %s", pattern, err.text);
    return regex;
}

TEST(test_finds_the_first_group)
{
    static const struct {
        const char *pattern, *text, *group; /* NULL: there is none */
    } cases[] = {
        {"([0-9.]+) GB/s", "x 12.5 GB/s", "12.5"},
        {"speed (\\d+)", "speed 7", "7"},
        {"[[:alpha:]]{2}([-+0-9e]*)$", "ab-1e", "-1e"},
        {"a|(b)", "a", NULL},
        {"()a", "a", ""},
        {"^(.*)$", "a\nb\xff", "a\nb\xff"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct safe_regex *regex = compile(cases[i].pattern, false);
        const char *group = "?", *text = cases[i].text;
        size_t len = 0;

        assert_int_equal(safe_regex_groups(regex), 1);
        assert_int_equal(safe_regex_match(regex, text, strlen(text), &group, &len),
                         SAFE_REGEX_YES);
        if (cases[i].group) {
            assert_int_equal(len, strlen(cases[i].group));
            assert_memory_equal(group, cases[i].group, len);
        } else {
            assert_null(group);
        }
        safe_regex_destroy(regex);
    }
}

TEST(test_holds_the_whole_text)
{
    static const struct {
        const char *pattern, *text;
        enum safe_regex_result result;
    } cases[] = {
        {"[a-z]*", "word", SAFE_REGEX_YES}, {"[a-z]*", "word 1", SAFE_REGEX_NO},
        {"a|ab", "ab", SAFE_REGEX_YES},     {"a|ab", "b", SAFE_REGEX_NO},
        {"a*", "a\n", SAFE_REGEX_NO},       {"^a$", "a", SAFE_REGEX_YES},
        {"^a$", "a\n", SAFE_REGEX_NO},      {"", "", SAFE_REGEX_YES},
        {"(a*)*b", "aaac", SAFE_REGEX_NO},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct safe_regex *regex = compile(cases[i].pattern, true);
        const char *text = cases[i].text;

        if (safe_regex_match(regex, text, strlen(text), NULL, NULL) != cases[i].result)
            fail_msg("%s, %s", cases[i].pattern, text);
        safe_regex_destroy(regex);
    }
}

TEST(test_says_what_is_wrong)
{
    static const char *const patterns[] = {"[b-a]", "a{70000}", "(((a{99}){99}){99}){99}",
                                           "\\C", "(*UTF)a"};
    char big[SAFE_REGEX_MAX + 2];
    struct error err;

    assert_null(safe_regex_compile("ab(", false, &err));
    assert_string_equal(
        err.text,
        "is not a valid regular expression: missing closing parenthesis, at offset 3");
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        assert_null(safe_regex_compile(patterns[i], false, &err));
        assert_int_equal(err.code, ERROR_INVALID);
    }
    memset(big, 'a', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_null(safe_regex_compile(big, false, &err));
    assert_string_equal(err.text, "is longer than 256 bytes");
}

/* A metric's expression sees lines of up to 4 KiB that a program printed: what takes long
 * from one beginning in it, and what takes a while from each. */
TEST(test_gives_up_in_the_end)
{
    static const struct {
        const char *pattern;
        enum safe_regex_result result;
    } cases[] = {
        {"(.*)(.*)(.*)[xy]", SAFE_REGEX_GAVE_UP},
        {"([^x]*)([0-9])", SAFE_REGEX_GAVE_UP},
        {"(a+)+[bc]", SAFE_REGEX_GAVE_UP},
        {"((a|b)*(c|d)*)*[ef]", SAFE_REGEX_GAVE_UP},
        {"(a*+)[bc]", SAFE_REGEX_GAVE_UP},
        {"(a)(\\1*)[bc]", SAFE_REGEX_GAVE_UP},
        {"(?:(?R)|a)*b|[bc]", SAFE_REGEX_GAVE_UP},
        {"(a+)+b", SAFE_REGEX_NO}, /* there is no b at all */
        {"speed: ([0-9.]+)", SAFE_REGEX_NO},
        {".*speed: ([0-9.]+)", SAFE_REGEX_NO},
        {"[a-z]+: ([0-9.]+)", SAFE_REGEX_NO},
    };
    char line[4096];

    memset(line, 'a', sizeof(line));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct safe_regex *regex = compile(cases[i].pattern, false);
        enum safe_regex_result result =
            safe_regex_match(regex, line, sizeof(line), NULL, NULL);

        if (result != cases[i].result)
            fail_msg("%s: %d", cases[i].pattern, (int)result);
        safe_regex_destroy(regex);
    }
}
