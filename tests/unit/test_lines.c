/* SPDX-License-Identifier: Apache-2.0 */
/* test_lines.c - streams cut into lines */
#include "agent/case/lines.h"
#include "tests/unit/test.h"

/* Every line goes into a text as "[line]", a dropped one as "<length>". */
static void note(void *arg, const char *line, size_t len, size_t dropped)
{
    struct buf *text = arg;

    if (line)
        buf_printf(text, "[%.*s]", (int)len, line);
    else
        buf_printf(text, "<%zu>", dropped);
}

struct sample {
    const char *input;
    enum lines_overlong overlong;
    const char *expected;
};

/* The limit is 4. */
static const struct sample samples[] = {
    {"", LINES_DROP, ""},
    {"a\nb\n", LINES_DROP, "[a][b]"},
    {"a\nb", LINES_DROP, "[a][b]"},
    {"\n\n", LINES_DROP, "[][]"},
    {"abcd\n", LINES_DROP, "[abcd]"},
    {"abcde\nf\n", LINES_DROP, "<5>[f]"},
    {"abcdefghijkl", LINES_DROP, "<12>"},
    {"abcdefghijkl\nx", LINES_DROP, "<12>[x]"},
    {"abcd\n", LINES_CUT, "[abcd]"},
    {"abcde\nf\n", LINES_CUT, "[abcd][e][f]"},
    {"abcdefghij", LINES_CUT, "[abcd][efgh][ij]"},
};

/* The result must not depend on how the bytes arrive. */
static void cuts_lines_in_chunks_of(size_t chunk)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const struct sample *s = &samples[i];
        size_t len = strlen(s->input);
        struct lines lines;
        struct buf text;

        buf_init(&text, 1000);
        lines_init(&lines, 4, s->overlong);
        for (size_t at = 0; at < len; at += chunk) {
            size_t n = len - at < chunk ? len - at : chunk;
            char *copy = malloc(n); /* exactly n: a sanitizer sees what reads beyond */

            memcpy(copy, s->input + at, n);
            lines_feed(&lines, copy, n, note, &text);
            free(copy);
        }
        lines_end(&lines, note, &text);
        assert_string_equal(text.data ? text.data : "", s->expected);
        lines_release(&lines);
        buf_release(&text);
    }
}

TEST(cuts_lines_however_they_arrive)
{
    for (size_t chunk = 1; chunk < 14; chunk++)
        cuts_lines_in_chunks_of(chunk);
}

TEST(keeps_zero_bytes)
{
    struct lines lines;
    struct buf text;

    buf_init(&text, 100);
    lines_init(&lines, 100, LINES_DROP);
    lines_feed(&lines, "a\0b\n", 4, note, &text);
    assert_int_equal(text.len, 3); /* "%.*s" ends there; the length did not */
    lines_release(&lines);
    buf_release(&text);
}

TEST(gives_the_memory_of_a_long_line_back)
{
    struct lines lines;
    struct buf text;
    char *line = calloc(1, 200000);

    memset(line, 'x', 199999);
    buf_init(&text, 1000000);
    lines_init(&lines, 1000000, LINES_DROP);
    lines_feed(&lines, line, 199999, note, &text);
    lines_feed(&lines, "\n", 1, note, &text);
    assert_int_equal(text.len, 199999 + 2);
    assert_int_equal(lines.partial.capacity, 0);
    lines_release(&lines);
    buf_release(&text);
    free(line);
}
