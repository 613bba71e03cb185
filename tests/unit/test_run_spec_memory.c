/* test_run_spec_memory.c - a run spec when memory runs out, at every allocation in turn
 */
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

/* Allocations left until one fails; none fails while it is negative. */
static long left = -1;
static bool has_failed;

static bool must_fail(void)
{
    if (left < 0)
        return false;
    if (left > 0) {
        left--;
        return false;
    }
    left = -1; /* the ones after it succeed, which is harder than if all failed */
    has_failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return must_fail() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return must_fail() ? NULL : __real_strdup(text);
}

static const char full[] =
    "{\"name\":\"n\",\"labels\":{\"ticket\":\"NET-12\"},\"backend\":\"nccl\","
    "\"collectives\":[\"sendrecv\",\"alltoallv\"],\"split\":\"node\",\"sizes\":[8,\"1K\","
    "\"1.5M\"],"
    "\"dtypes\":[\"int8\"],\"redops\":[\"avg\",\"min\"],\"in_place\":\"both\","
    "\"nodes\":{\"names\":[\"a\",\"b\"],\"group\":\"g\",\"labels\":{\"k\":\"v\"}},"
    "\"traffic\":{\"spread\":0.5},\"devices\":{\"a\":[0,1]},"
    "\"nccl_lib\":\"/opt/libnccl.so.2\","
    "\"env\":{\"NCCL_DEBUG\":\"INFO\"},\"fault\":{\"rank\":1}}";

static const char wrong[] =
    "{\"odd\":1,\"sizes\":[\"x\"],\"collectives\":[\"all\"],\"name\":7,"
    "\"nodes\":{\"names\":[\"a\",\"a\"]},\"labels\":{\"a\":1}}";

/* Parse with allocation number n failing; returns whether it got that far. */
static bool parse_failing_at(json_t *body, long n, const json_t *expected)
{
    struct problems problems;
    struct run_spec *spec;

    has_failed = false;
    left = n;
    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    left = -1;
    assert_true((spec == NULL) == (problems.count > 0));
    if (spec) {
        json_t *shown = run_spec_to_json(spec);

        assert_non_null(expected);
        assert_true(json_equal(shown, expected));
        json_decref(shown);
    } else if (!has_failed) {
        assert_null(expected);
    }
    run_spec_destroy(spec);
    problems_release(&problems);
    return has_failed;
}

TEST(a_failed_allocation_refuses_or_changes_nothing)
{
    json_t *body = json_of(full), *expected;
    struct problems problems;
    struct run_spec *spec;
    long n = 0;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    expected = run_spec_to_json(spec);
    assert_non_null(expected);
    while (parse_failing_at(body, n, expected))
        n++;
    assert_in_range(n, 15, 10000);
    run_spec_destroy(spec);
    problems_release(&problems);
    json_decref(expected);
    json_decref(body);
}

TEST(a_wrong_spec_is_refused_whatever_fails)
{
    json_t *body = json_of(wrong);
    long n = 0;

    while (parse_failing_at(body, n, NULL))
        n++;
    assert_in_range(n, 15, 10000);
    json_decref(body);
}

static long show_failing_at_each(const struct run_spec *spec,
                                 json_t *(*show)(const struct run_spec *))
{
    json_t *expected = show(spec);

    assert_non_null(expected);
    for (long n = 0;; n++) {
        json_t *shown;

        has_failed = false;
        left = n;
        shown = show(spec);
        left = -1;
        if (shown && !json_equal(shown, expected))
            fail_msg("allocation %ld failed and something is missing", n);
        json_decref(shown);
        if (!has_failed) {
            json_decref(expected);
            return n;
        }
    }
}

TEST(a_spec_is_shown_whole_or_not_at_all)
{
    json_t *body = json_of(full);
    struct problems problems;
    struct run_spec *spec;

    problems_init(&problems);
    spec = run_spec_parse(body, &problems);
    assert_non_null(spec);
    assert_in_range(show_failing_at_each(spec, run_spec_to_json), 30, 10000);
    assert_in_range(show_failing_at_each(spec, run_spec_case_json), 20, 10000);
    run_spec_destroy(spec);
    problems_release(&problems);
    json_decref(body);
}

static int begin(void **state)
{
    (void)state;
    json_set_alloc_funcs(__wrap_malloc, free);
    return 0;
}

GROUP_FIXTURE(begin, NULL);
