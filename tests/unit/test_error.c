/* test_error.c - what failures say */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/error.h"

static void set_fills_code_and_text(void **state)
{
    struct error err;

    (void)state;
    assert_int_equal(error_set(&err, ERROR_LIMIT, "%d of %s", 3, "four"), -1);
    assert_int_equal(err.code, ERROR_LIMIT);
    assert_string_equal(err.text, "3 of four");
}

static void a_caller_may_pass_no_error(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, ERROR_IO, "x"), -1);
    assert_int_equal(error_set_errno(NULL, ERROR_IO, EIO, "x"), -1);
    assert_int_equal(error_prefix(NULL, "x"), -1);
}

static void errno_text_is_appended(void **state)
{
    struct error err;

    (void)state;
    assert_int_equal(error_set_errno(&err, ERROR_IO, ENOENT, "can't open %s", "f"), -1);
    assert_string_equal(err.text, "can't open f: No such file or directory");
}

static void prefix_keeps_code_and_puts_context_first(void **state)
{
    struct error err;

    (void)state;
    error_set(&err, ERROR_PEER, "closed");
    assert_int_equal(error_prefix(&err, "rank %d", 2), -1);
    assert_int_equal(err.code, ERROR_PEER);
    assert_string_equal(err.text, "rank 2: closed");
}

static void long_texts_are_cut_not_overrun(void **state)
{
    struct error err;
    char text[2 * sizeof(err.text)];

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_code_and_text),
        cmocka_unit_test(a_caller_may_pass_no_error),
        cmocka_unit_test(errno_text_is_appended),
        cmocka_unit_test(prefix_keeps_code_and_puts_context_first),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
