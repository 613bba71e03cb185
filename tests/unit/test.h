/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - the header of all C unit tests: cmocka, the C library, and a macro that
 * defines and registers a test
 *
 *     TEST(a_queue_is_first_in_first_out)
 *     {
 *         assert_int_equal(...);
 *     }
 *
 * A file has no main(): runner.c has it. Tests run in the order of their lines. */
#ifndef RINGBENCH_TEST_H
#define RINGBENCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_entry {
    const char *path;
    int line;
    struct CMUnitTest unit;
    struct test_entry *next;
};

/* The fixtures of a file: around all of its tests together, and around each test. */
struct test_fixtures {
    const char *path;
    CMFixtureFunction set_up, tear_down, each_set_up, each_tear_down;
    struct test_fixtures *next;
};

void test_add(struct test_entry *entry);
void test_add_fixtures(struct test_fixtures *fixtures);

/* TEST(name) { ... }: `state` is the value that the set-up function stored. */
#define TEST(name) TEST_WITH(NULL, NULL, name)

/* The same with a fixture of its own; either function may be NULL. */
#define TEST_WITH(set_up, tear_down, name)                                               \
    static void name(void **state);                                                      \
    __attribute__((constructor)) static void add_##name(void)                            \
    {                                                                                    \
        static struct test_entry entry = {                                               \
            __FILE__, __LINE__, {#name, name, set_up, tear_down, NULL}, NULL};           \
                                                                                         \
        test_add(&entry);                                                                \
    }                                                                                    \
    static void name(__attribute__((unused)) void **state)

/* Functions around each TEST of the file; either may be NULL. */
#define EACH_FIXTURE(set_up, tear_down) TEST_FIXTURES(each, NULL, NULL, set_up, tear_down)

/* Functions that run once around all tests of the file; either may be NULL. */
#define GROUP_FIXTURE(set_up, tear_down)                                                 \
    TEST_FIXTURES(group, set_up, tear_down, NULL, NULL)

#define TEST_FIXTURES(kind, ...)                                                         \
    __attribute__((constructor)) static void add_##kind##_fixture(void)                  \
    {                                                                                    \
        static struct test_fixtures fixtures = {__FILE__, __VA_ARGS__, NULL};            \
                                                                                         \
        test_add_fixtures(&fixtures);                                                    \
    }                                                                                    \
    struct test_fixtures

/* Compare doubles; cmocka compares only floats. */
#define assert_near(got, want, within)                                                   \
    do {                                                                                 \
        double near_got = (got), near_want = (want);                                     \
        if (!(fabs(near_got - near_want) <= (within)))                                   \
            fail_msg("%s is %.15g, not %.15g", #got, near_got, near_want);               \
    } while (0)

/* The number of seeds that a statistical test tries: `full`, or a tenth under a
 * sanitizer, whose findings do not depend on the seed. */
size_t test_seeds(size_t full);

#endif
