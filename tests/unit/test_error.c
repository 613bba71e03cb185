/* SPDX-License-Identifier: Apache-2.0 */
/* test_error.c - what failures say */
#include "common/base/error.h"
#include "tests/unit/test.h"

TEST(set_fills_code_and_text)
{
    struct error err;

    assert_int_equal(error_set(&err, ERROR_LIMIT, "%d of %s", 3, "four"), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_string_equal(err.text, "3 of four");
}

TEST(a_caller_may_pass_no_error)
{
    assert_int_equal(error_set(NULL, ERROR_IO, "x"), -1);
    assert_int_equal(error_set_errno(NULL, ERROR_IO, EIO, "x"), -1);
    assert_int_equal(error_prefix(NULL, "x"), -1);
}

TEST(errno_text_is_appended)
{
    struct error err;

    assert_int_equal(error_set_errno(&err, ERROR_IO, ENOENT, "cannot open %s", "f"), -1);
    assert_string_equal(err.text, "cannot open f: No such file or directory");
}

TEST(prefix_keeps_code_and_puts_context_first)
{
    struct error err;

    error_set(&err, ERROR_PEER, "closed");
    assert_int_equal(error_prefix(&err, "rank %d", 2), -1);
    assert_int_equal(err.code, ERROR_PEER);
    assert_string_equal(err.text, "rank 2: closed");
}

TEST(long_texts_are_cut_not_overrun)
{
    struct error err;
    char text[2 * sizeof(err.text)];

    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    error_set(&err, ERROR_IO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    error_set_errno(&err, ERROR_IO, ENOENT, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    text[sizeof(err.text) - 10] = '\0';
    error_set_errno(&err, ERROR_IO, ENOENT, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}
