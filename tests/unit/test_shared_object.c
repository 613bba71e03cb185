/* test_shared_object.c - libraries that are looked for at run time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/worker/nccl/shared_object.h"

struct table {
    double (*cosine)(double);
    void (*nothing)(void);
};

static const char *const names[] = {"libringbench-no-such.so.1", "libm.so.6", NULL};

static void the_first_that_is_there_is_taken(void **state)
{
    static const struct shared_symbol symbols[] = {
        {"no_such_function", offsetof(struct table, cosine), false, "cos"},
        {"no_such_function", offsetof(struct table, nothing), true, NULL}};
    struct table table;
    struct error err = {0};

    (void)state;
    void *handle = shared_object_open(NULL, names, &err);
    assert_non_null(handle);
    assert_int_equal(shared_object_bind(handle, symbols, 2, &table, &err), 0);
    assert_true(table.cosine(0) > 0.99);
    assert_null(table.nothing);
    assert_non_null(strstr(shared_object_path(*(void **)&table.cosine), "libm"));
}

static void what_is_missing_is_named(void **state)
{
    static const struct shared_symbol symbol = {
        "no_such_function", offsetof(struct table, cosine), false, NULL};
    struct table table;
    struct error err = {0};

    (void)state;
    assert_null(shared_object_open("/no/such/dir/lib.so", names, &err));
    assert_int_equal(err.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "/no/such/dir/lib.so"));
    void *handle = shared_object_open("", names, &err); /* empty: not set */
    assert_non_null(handle);
    assert_int_equal(shared_object_bind(handle, &symbol, 1, &table, &err), -1);
    assert_non_null(strstr(err.text, "no_such_function"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_is_there_is_taken),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
