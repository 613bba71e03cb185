/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare_text.c - comparisons whose names and labels are meant to do harm */
#include "server/render/compare_text.h"
#include "tests/unit/test.h"

/* ' for ". */
static const char hostile[] =
    "{'verdict': {'sentence': 'head is slower at \\u001b[2J|x|', 'evidence': {"
    "  'warnings': ['see [this](x) \\u009b1m'],"
    "  'differences': [{'what': 'env.A_B', 'base': '<b>\\u001b', 'head': null}],"
    "  'bands': [{'series': 'a|b `c` @d\\u001b', 'figure': 'x_y'}]}},"
    " 'base': {'runs': [{'id': 'r1', 'name': '*n*\\\\\\u202e'}], 'cases': [1]},"
    " 'head': {'runs': [{'id': 'r2', 'name': '', 'backend': 'sim'}], 'cases': []},"
    " 'sizes': []}";

static void becomes(enum form form, const char *want)
{
    char text[sizeof(hostile)];
    json_t *document;
    struct buf out;

    memcpy(text, hostile, sizeof(text));
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    document = json_loads(text, 0, NULL);
    assert_non_null(document);
    buf_init(&out, 10000);
    assert_int_equal(compare_write(document, form, &out), 0);
    assert_string_equal(out.data, want);
    buf_release(&out);
    json_decref(document);
}

TEST(text_has_nothing_that_a_terminal_acts_upon)
{
    becomes(FORM_TEXT,
            "# warning: see [this](x) \\u009b1m\n"
            "head is slower at \\u001b[2J|x|\n\n"
            "# base: run r1 *n*\\\\u202e, 1 case\n"
            "# head: run r2 (simulated), 0 cases\n"
            "# differs: env.A_B, base <b>\\u001b, head -\n"
            "SERIES            BAND  FIGURE  BASE  HEAD  CHANGE  INTERVAL  ANSWER  WHY\n"
            "a|b `c` @d\\u001b  -     x_y        -     -       -         -  -       -\n");
}

TEST(markdown_has_no_marks_but_its_own)
{
    becomes(
        FORM_MARKDOWN,
        "**head is slower at \\\\u001b\\[2J\\|x\\|**\n\n"
        "- base: run r1 \\*n\\*\\\\\\\\u202e, 1 case\n"
        "- head: run r2 (simulated), 0 cases\n"
        "- warning: see \\[this\\](x) \\\\u009b1m\n"
        "- differs: env.A\\_B, base \\<b\\>\\\\u001b, head -\n\n"
        "| SERIES | BAND | FIGURE | BASE | HEAD | CHANGE | INTERVAL | ANSWER | WHY |\n"
        "|---|---|---|---:|---:|---:|---:|---|---|\n"
        "| a\\|b \\`c\\` \\@d\\\\u001b | - | x\\_y | - | - | - | - | - | - |\n");
}

TEST(a_full_buffer_is_said)
{
    struct buf out;
    json_t *document =
        json_pack("{s:{s:s}}", "verdict", "sentence", "some_thing that is long enough");

    buf_init(&out, 16);
    assert_int_equal(compare_write(document, FORM_TEXT, &out), -1);
    buf_clear(&out);
    assert_int_equal(compare_write(document, FORM_MARKDOWN, &out), -1);
    buf_release(&out);
    json_decref(document);
}

/* Wherever the room ends: in the columns' names, behind them, in a row. */
TEST(a_csv_table_without_room_is_refused)
{
    json_t *document = json_pack("{s:[{s:s, s:i}]}", "sizes", "series",
                                 "all_reduce float", "size", 1024);
    struct buf out;
    size_t whole;

    buf_init(&out, 10000);
    assert_int_equal(compare_write(document, FORM_CSV, &out), 0);
    whole = out.len;
    buf_release(&out);
    for (size_t room = 1; room < whole; room++) {
        buf_init(&out, room);
        assert_int_equal(compare_write(document, FORM_CSV, &out), -1);
        buf_release(&out);
    }
    json_decref(document);
}
