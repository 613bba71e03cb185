/* test_html_text.c - text of strangers inside a page */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/json_util.h"
#include "server/report/html_text.h"

static void text_becomes(const char *text, const char *want)
{
    struct html html;

    html_init(&html, 4096);
    html_text(&html, text);
    assert_false(html.is_failed);
    assert_string_equal(html.out.data ? html.out.data : "", want);
    html_release(&html);
}

static void escapes_what_would_be_markup(void **state)
{
    (void)state;
    text_becomes("", "");
    text_becomes("plain, \xc3\xa9 and \xf0\x9f\x98\x80",
                 "plain, \xc3\xa9 and \xf0\x9f\x98\x80");
    text_becomes("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    text_becomes("\" onload='x' & ", "&quot; onload=&#39;x&#39; &amp; ");
    text_becomes("a\nb\tc", "a\nb\tc");
}

#define FFFD "\xef\xbf\xbd"

static void replaces_what_is_no_text(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"a\x80z", "a" FFFD "z"},                    /* no sequence begins so */
        {"\xc3", FFFD},                              /* cut short */
        {"\xe2\x82<b>", FFFD FFFD "&lt;b&gt;"},      /* cut short by markup */
        {"\xc0\xbc", FFFD FFFD},                     /* an overlong "<" */
        {"\xed\xa0\x80", FFFD FFFD FFFD},            /* a surrogate */
        {"\x01\x1b[31m\x7f", FFFD FFFD "[31m" FFFD}, /* controls */
        {"\xc2\x85", FFFD},                          /* C1 */
        {"\xe2\x80\xaegnp", FFFD "gnp"},             /* right-to-left override */
        {"\xe2\x81\xa6x", FFFD "x"},                 /* isolate */
        {"\xef\xbf\xbe\xef\xb7\x90", FFFD FFFD},     /* no characters */
        {"\xe2\x80\xa8\xe2\x80\x8b", FFFD FFFD},     /* unseen */
        {"a\tb\nc", "a\tb\nc"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        text_becomes(cases[i].text, cases[i].want);
}

static void keeps_long_text_whole(void **state)
{
    char *text = malloc(10001);
    struct html html;

    (void)state;
    assert_non_null(text);
    memset(text, '<', 10000);
    text[10000] = '\0';
    html_init(&html, 1 << 20);
    html_text(&html, text);
    assert_int_equal(html.out.len, 40000);
    html_release(&html);
    free(text);
}

static void cuts_at_a_character(void **state)
{
    struct html html;

    (void)state;
    html_init(&html, 4096);
    html_short(&html, "abc\xc3\xa9", 5);
    html_raw(&html, "|");
    html_short(&html, "abc\xc3\xa9z", 4);
    assert_string_equal(html.out.data, "abc\xc3\xa9|abc\xe2\x80\xa6");
    html_release(&html);
}

static void json_can_not_end_its_element(void **state)
{
    json_t *value = json_pack("{s:s, s:f}", "name", "</script><!--&", "x", 0.5);
    struct html html;
    json_t *again;

    (void)state;
    html_init(&html, 4096);
    html_json(&html, value);
    assert_null(strpbrk(html.out.data, "<>&"));
    again = json_parse(html.out.data, html.out.len, NULL);
    assert_true(json_equal(value, again));
    json_decref(again);
    json_decref(value);
    html_release(&html);
}

static void remembers_the_first_failure(void **state)
{
    struct html html;

    (void)state;
    html_init(&html, 4);
    html_text(&html, "abcd");
    assert_false(html.is_failed);
    html_text(&html, "e");
    assert_true(html.is_failed);
    html_raw(&html, "");
    assert_true(html.is_failed);
    html_release(&html);
}

static void figures_are_short(void **state)
{
    static const struct {
        double value;
        int digits;
        const char *want;
    } cases[] = {
        {0.0, 3, "0"},        {1.0, 3, "1.00"},         {12.345, 3, "12.3"},
        {1234.5, 3, "1234"},  {0.001234, 3, "0.00123"}, {-2.5, 4, "-2.500"},
        {5e9, 3, "5.00e+09"}, {1e-9, 3, "1.00e-09"},
    };
    char text[HTML_NUMBER_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(html_figure(cases[i].value, cases[i].digits, text),
                            cases[i].want);
    assert_string_equal(html_figure(strtod("nan", NULL), 3, text), "-");
    assert_string_equal(html_figure(strtod("inf", NULL), 3, text), "-");
    assert_string_equal(html_size(8, text), "8");
    assert_string_equal(html_size(65536, text), "64K");
    assert_string_equal(html_size(1000, text), "1000");
    assert_string_equal(html_size(1536.0 * 1024 * 1024, text), "1536M");
    assert_string_equal(html_size(1099511627776.0, text), "1T");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_would_be_markup),
        cmocka_unit_test(replaces_what_is_no_text),
        cmocka_unit_test(keeps_long_text_whole),
        cmocka_unit_test(cuts_at_a_character),
        cmocka_unit_test(json_can_not_end_its_element),
        cmocka_unit_test(remembers_the_first_failure),
        cmocka_unit_test(figures_are_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
