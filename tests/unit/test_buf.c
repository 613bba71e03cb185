/* SPDX-License-Identifier: Apache-2.0 */
/* test_buf.c - a buffer that grows up to a stated maximum */
#include "common/base/buf.h"
#include "tests/unit/test.h"

TEST(appends_and_stays_terminated)
{
    struct buf buf;

    buf_init(&buf, 1000);
    assert_int_equal(buf_append(&buf, "ab", 2), 0);
    assert_int_equal(buf_append_str(&buf, "cd"), 0);
    assert_int_equal(buf_printf(&buf, "%03d", 7), 0);
    assert_string_equal(buf.data, "abcd007");
    assert_int_equal(buf.len, 7);
    buf_release(&buf);
    assert_null(buf.data);
    assert_int_equal(buf_append_str(&buf, "again"), 0);
    assert_string_equal(buf.data, "again");
    buf_release(&buf);
}

TEST(holds_exactly_its_maximum)
{
    struct buf buf;

    buf_init(&buf, 5);
    assert_int_equal(buf_append(&buf, "12345", 5), 0);
    assert_int_equal(buf_append(&buf, "6", 1), -1);
    assert_int_equal(buf_printf(&buf, "%d", 6), -1);
    assert_int_equal(buf_append(&buf, "", 0), 0);
    assert_string_equal(buf.data, "12345");
    buf_release(&buf);
}

TEST(refuses_what_no_machine_can_hold)
{
    struct buf buf;

    buf_init(&buf, SIZE_MAX);
    assert_int_equal(buf_append_str(&buf, "x"), 0);
    assert_int_equal(buf_append(&buf, "", SIZE_MAX - 1), -1);
    assert_int_equal(buf_append(&buf, "", SIZE_MAX / 2 + 1), -1);
    assert_string_equal(buf.data, "x");
    buf_release(&buf);
}

TEST(grows_through_many_appends)
{
    struct buf buf;

    buf_init(&buf, 1 << 20);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf_printf(&buf, "%c", 'a' + i % 26), 0);
    assert_int_equal(buf.len, 100000);
    assert_int_equal(buf.data[99999], 'a' + 99999 % 26);
    buf_release(&buf);
}

TEST(consumes_from_the_front)
{
    struct buf buf;

    buf_init(&buf, 100);
    buf_consume(&buf, 0);
    buf_append_str(&buf, "line\nrest");
    buf_consume(&buf, 5);
    assert_string_equal(buf.data, "rest");
    buf_consume(&buf, 4);
    assert_string_equal(buf.data, "");
    buf_append_str(&buf, "more");
    buf_clear(&buf);
    assert_int_equal(buf.len, 0);
    assert_string_equal(buf.data, "");
    buf_release(&buf);
}

TEST(gives_its_content_away)
{
    struct buf buf;
    size_t len = 99;
    char *text;

    buf_init(&buf, 100);
    text = buf_detach(&buf, &len);
    assert_string_equal(text, "");
    assert_int_equal(len, 0);
    free(text);
    buf_append(&buf, "a\0b", 3);
    text = buf_detach(&buf, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(text, "a\0b", 4);
    assert_null(buf.data);
    assert_int_equal(buf.max, 100);
    free(text);
}
