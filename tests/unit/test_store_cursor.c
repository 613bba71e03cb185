/* test_store_cursor.c - the run list's cursor */
#include "server/store/store_cursor.h"
#include "tests/unit/test.h"

TEST(cursor_survives_a_round_trip)
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(store_cursor_format(cases[i].ms, cases[i].id, text), 0);
        assert_int_equal(store_cursor_parse(text, &ms, id), 0);
        assert_int_equal(ms, cases[i].ms);
        assert_string_equal(id, cases[i].id);
    }
}

TEST(cursor_of_a_stranger_is_refused)
{
    static const char *const cases[] = {
        "", "x", "????", "123", ":a", "1x:a", "99999999999999999999:a"};
    char huge[4000], id[STORE_CURSOR_ID_MAX + 1];
    int64_t ms;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(store_cursor_parse(cases[i], &ms, id), -1);
    memset(huge, 'M', sizeof(huge));
    memcpy(huge, "1:", 2);
    huge[sizeof(huge) - 1] = '\0';
    assert_int_equal(store_cursor_parse(huge, &ms, id), -1);
}

TEST(cursor_refuses_a_long_id)
{
    char text[STORE_CURSOR_TEXT_MAX], id[STORE_CURSOR_ID_MAX + 2];

    memset(id, 'a', sizeof(id));
    id[sizeof(id) - 1] = '\0';
    assert_int_equal(store_cursor_format(1, id, text), -1);
}
