/* test_store_cursor.c - the run list's cursor */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "server/store/store_cursor.h"

static void cursor_survives_a_round_trip(void **state)
{
    static const struct {
        int64_t ms;
        const char *id;
    } cases[] = {
        {0, ""},
        {1, "a"},
        {1700000000123, "06cw1x2k3m4n"},
        {INT64_MAX, "zz"},
        {-5, "0123456789012345678901234567890123456789012345678901234567890123"}};
    char text[STORE_CURSOR_TEXT_MAX], id[STORE_CURSOR_ID_MAX + 1];
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(store_cursor_format(cases[i].ms, cases[i].id, text), 0);
        assert_int_equal(strspn(text,
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-_"),
                         strlen(text));
        assert_int_equal(store_cursor_parse(text, &ms, id), 0);
        assert_int_equal(ms, cases[i].ms);
        assert_string_equal(id, cases[i].id);
    }
}

static void cursor_of_a_stranger_is_refused(void **state)
{
    static const char *const cases[] = {"", "x", "????", "AAAA", "MTIz", "Ojph", "MTI=",
                                        /* 99999999999999999999: out of range */
                                        "OTk5OTk5OTk5OTk5OTk5OTk5OTk6YQ"};
    char huge[4000], id[STORE_CURSOR_ID_MAX + 1];
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(store_cursor_parse(cases[i], &ms, id), -1);
    memset(huge, 'M', sizeof(huge));
    huge[sizeof(huge) - 1] = '\0';
    assert_int_equal(store_cursor_parse(huge, &ms, id), -1);
}

static void cursor_refuses_a_long_id(void **state)
{
    char text[STORE_CURSOR_TEXT_MAX], id[STORE_CURSOR_ID_MAX + 2];

    (void)state;
    memset(id, 'a', sizeof(id));
    id[sizeof(id) - 1] = '\0';
    assert_int_equal(store_cursor_format(1, id, text), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursor_survives_a_round_trip),
        cmocka_unit_test(cursor_of_a_stranger_is_refused),
        cmocka_unit_test(cursor_refuses_a_long_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
