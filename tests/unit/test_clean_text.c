/* SPDX-License-Identifier: Apache-2.0 */
/* test_clean_text.c - any bytes made fit for JSON, terminals and names */
#include "common/base/clean_text.h"
#include "tests/unit/test.h"

#define R "\xef\xbf\xbd"

struct sample {
    const char *input;
    size_t len;
    const char *expected;
};

#define S(text) text, sizeof(text) - 1

static const struct sample samples[] = {
    {S(""), ""},
    {S("plain"), "plain"},
    {S("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
     "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {S("a\0b"), "a" R "b"},
    {S("caf\xe9"), "caf" R},
    {S("\xc3"), R},
    {S("\xc3\x28"), R "("},
    {S("\xc0\x80"), R R},             /* overlong */
    {S("\xe0\x80\x80"), R R R},       /* overlong */
    {S("\xed\xa0\x80"), R R R},       /* surrogate */
    {S("\xf4\x90\x80\x80"), R R R R}, /* above U+10FFFF */
    {S("\xf5"), R},
    {S("\x80"), R},
    {S("\xe2\x82"), R R},
};

TEST(replaces_what_is_not_utf8)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        json_t *string = clean_text_json(samples[i].input, samples[i].len);

        assert_non_null(string);
        assert_string_equal(json_string_value(string), samples[i].expected);
        json_decref(string);
    }
}

static const struct sample shown[] = {
    {S(""), ""},
    {S("plain \\ text\twith a tab"), "plain \\ text\twith a tab"},
    {S("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
     "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {S("a\0b\x1b[31m\r\n"), "a\\u0000b\\u001b[31m\\r\\n"},
    {S("\x7f"), "\\u007f"},
    {S("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), "\\u0080\\u009b\\u009f\xc2\xa0"},
    {S("\xd8\x9c"), "\\u061c"},
    {S("\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\x8f"), "\\u200b\\u200e\\u200f"},
    {S("\xe2\x80\x8c\xe2\x80\x8d"), "\xe2\x80\x8c\xe2\x80\x8d"}, /* joiners of words */
    {S("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf"),
     "\\u2028\\u2029\\u202a\\u202e\xe2\x80\xaf"},
    {S("\xe2\x81\xa0\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaf\xe2\x81\xb0"),
     "\\u2060\\u2066\\u2069\\u206f\xe2\x81\xb0"},
    {S("\xef\xbb\xbf\xef\xbf\xb9\xef\xbf\xbd"), "\\ufeff\\ufff9\xef\xbf\xbd"},
    {S("\xf3\xa0\x81\x81"), "\\U000e0041"},
    {S("\xef\xbf\xbe\xef\xb7\x90"), "\\ufffe\\ufdd0"},
    {S("\x9b\xff\xc2"), "\\x9b\\xff\\xc2"},
    {S("\xc2\n"), "\\xc2\\n"},
};

TEST(shows_what_a_terminal_would_act_upon)
{
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        char copy[80];
        struct buf out;

        buf_init(&out, sizeof(copy));
        assert_int_equal(clean_text_show(&out, shown[i].input, shown[i].len), 0);
        assert_string_equal(out.data ? out.data : "", shown[i].expected);
        buf_release(&out);
        assert_int_equal(
            clean_text_copy(copy, sizeof(copy), shown[i].input, shown[i].len),
            strlen(shown[i].expected));
        assert_string_equal(copy, shown[i].expected);
    }
}

TEST(cuts_between_characters)
{
    static const char *const cut[] = {"", "a", "a", "a\xc3\xa9", "a\xc3\xa9"};
    char copy[8];

    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        assert_int_equal(clean_text_copy(copy, i + 1, S("a\xc3\xa9\x1b")),
                         strlen(cut[i]));
        assert_string_equal(copy, cut[i]);
    }
}

TEST(shows_every_text_of_a_document)
{
    json_t *value = json_pack("{s:[s, i], s:{s:s}, s:n}", "a\n", "x\ny\x1b", 5, "o",
                              "\xc2\x9b", "z\r", "n");
    json_t *lines = clean_text_shown(value, true), *line = clean_text_shown(value, false);
    json_t *wanted = json_pack("{s:[s, i], s:{s:s}, s:n}", "a\\n", "x\ny\\u001b", 5, "o",
                               "\\u009b", "z\\r", "n");

    assert_true(json_equal(lines, wanted));
    json_array_set_new(json_object_get(wanted, "a\\n"), 0, json_string("x\\ny\\u001b"));
    assert_true(json_equal(line, wanted));
    json_decref(wanted);
    json_decref(line);
    json_decref(lines);
    json_decref(value);
}

TEST(names_the_character_that_no_name_may_have)
{
    static const struct {
        const char *name, *fault; /* NULL: none */
    } names[] = {
        {"", NULL},
        {"node-1", NULL},
        {"K\xc3\xb6ln \xe5\xbe\x8c", NULL},
        {"a\tb", "U+0009"},
        {"\x1b[31m", "U+001B"},
        {"a\nb\x1b", "U+000A"},
        {"\x7f", "U+007F"},
        {"\xc2\x9b", "U+009B"},
        {"\xe2\x80\xae", "U+202E"},
        {"\xf3\xa0\x81\x81", "U+E0041"},
        {"ok\xff", "byte FF"},
    };
    char fault[CLEAN_TEXT_FAULT_MAX];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(clean_text_fault(names[i].name, fault), names[i].fault != NULL);
        if (names[i].fault)
            assert_string_equal(fault, names[i].fault);
    }
}

TEST(fails_when_the_buffer_is_full)
{
    struct buf buf;

    buf_init(&buf, 4);
    assert_int_equal(clean_text_append(&buf, "\xff\xff", 2), -1);
    buf_clear(&buf);
    assert_int_equal(clean_text_show(&buf, "\xff\xff", 2), -1);
    buf_release(&buf);
}
