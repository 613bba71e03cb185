/* test_clean_text.c - any bytes made fit for JSON */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/clean_text.h"

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

static void replaces_what_is_not_utf8(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        json_t *string = clean_text_json(samples[i].input, samples[i].len);

        assert_non_null(string);
        assert_string_equal(json_string_value(string), samples[i].expected);
        json_decref(string);
    }
}

static void fails_when_the_buffer_is_full(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 4);
    assert_int_equal(clean_text_append(&buf, "\xff\xff", 2), -1);
    buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(fails_when_the_buffer_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
