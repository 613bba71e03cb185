/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_object.c - libraries that are looked for at run time */
#include "agent/worker/base/shared_object.h"
#include "tests/unit/test.h"

struct table {
    double (*cosine)(double);
    void (*nothing)(void);
};

static const char *const names[] = {"libringbench-no-such.so.1", "libm.so.6", NULL};

TEST(the_first_that_is_there_is_taken)
{
    static const struct shared_symbol symbols[] = {
        {"no_such_function", offsetof(struct table, cosine), false, "cos"},
        {"no_such_function", offsetof(struct table, nothing), true, NULL}};
    struct table table;
    struct error err = {0};

    void *handle = shared_object_open(NULL, names, NULL, NULL, &err);
    assert_non_null(handle);
    assert_int_equal(shared_object_bind(handle, symbols, 2, &table, &err), 0);
    assert_true(table.cosine(0) > 0.99);
    assert_null(table.nothing);
    assert_non_null(strstr(shared_object_path(*(void **)&table.cosine), "libm"));
}

TEST(what_is_missing_is_named)
{
    static const struct shared_symbol symbol = {
        "no_such_function", offsetof(struct table, cosine), false, NULL};
    struct table table;
    struct error err = {0};

    assert_null(shared_object_open("/no/such/dir/lib.so", names, NULL, NULL, &err));
    assert_int_equal(err.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "/no/such/dir/lib.so"));
    void *handle = shared_object_open("", names, NULL, NULL, &err); /* empty: not set */
    assert_non_null(handle);
    assert_int_equal(shared_object_bind(handle, &symbol, 1, &table, &err), -1);
    assert_non_null(strstr(err.text, "no_such_function"));
}

/* A copy of a library, named as none is, in a virtual environment's package. */
TEST(python_packages_are_searched)
{
    static const char *const packaged[] = {"libringbench-packaged.so.1", NULL};
    static const struct shared_symbol symbol = {"cos", offsetof(struct table, cosine),
                                                false, NULL};
    char root[] = "/tmp/ringbench-venv-XXXXXX", command[512];
    struct table table;
    struct error err = {0};

    assert_non_null(mkdtemp(root));
    assert_null(shared_object_open(NULL, packaged, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "not found below CUDA_HOME"));
    void *math = shared_object_open("libm.so.6", names, NULL, NULL, &err);
    assert_int_equal(shared_object_bind(math, &symbol, 1, &table, &err), 0);
    snprintf(command, sizeof(command),
             "d=%s/lib/python3.11/site-packages/nvidia/some/lib && mkdir -p $d && "
             "cp -L %s $d/%s",
             root, shared_object_path(*(void **)&table.cosine), packaged[0]);
    assert_int_equal(system(command), 0);
    setenv("VIRTUAL_ENV", root, 1);
    void *handle = shared_object_open(NULL, packaged, NULL, NULL, &err);
    unsetenv("VIRTUAL_ENV");
    assert_non_null(handle);
    assert_int_equal(shared_object_bind(handle, &symbol, 1, &table, &err), 0);
    assert_non_null(strstr(shared_object_path(*(void **)&table.cosine), root));
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static int refuse_all(void *handle, void *arg, struct error *err)
{
    int *n_asked = arg;

    assert_non_null(handle);
    ++*n_asked;
    return error_set(err, ERROR_UNSUPPORTED, "refused");
}

/* As by the links of /usr/local/cuda and /usr/local/cuda-13. */
TEST(a_library_of_two_names_is_asked_once)
{
    static const char *const names_of_one[] = {"libm.so.6", "libm.so.6", NULL};
    struct error err = {0};
    int n_asked = 0;

    assert_null(shared_object_open(NULL, names_of_one, refuse_all, &n_asked, &err));
    assert_int_equal(n_asked, 1);
    assert_string_equal(err.text, "refused");
}

static int refuse_first(void *handle, void *arg, struct error *err)
{
    int *n_asked = arg;

    assert_non_null(handle);
    return ++*n_asked == 1 ? error_set(err, ERROR_UNSUPPORTED, "the first") : 0;
}

TEST(the_next_is_taken_where_the_first_will_not_do)
{
    static const char *const both[] = {"libm.so.6", "libc.so.6", NULL};
    struct error err = {0};
    int n_asked = 0;

    assert_non_null(shared_object_open(NULL, both, refuse_first, &n_asked, &err));
    assert_int_equal(n_asked, 2);
    n_asked = 0;
    assert_null(shared_object_open("libm.so.6", both, refuse_first, &n_asked, &err));
    assert_int_equal(n_asked, 1);
    assert_string_equal(err.text, "the first");
}
