/* test_cpu_list.c - CPUs as the kernel lists them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/cpu_list.h"

static void knows_a_list(void **state)
{
    static const char *const good[] = {"0", "0,2-3", "0-0", "10-12,65535"};
    static const char *const bad[] = {"",   ",",    "0,",    "-1",  "3-2",   "0 ",
                                      "0-", "0,,1", "a",     "0x1", "65536", "0-65536",
                                      "+1", " 1",   "1-2-3", "1;2"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!cpu_list_is_valid(good[i]))
            fail_msg("'%s' is a list", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (cpu_list_is_valid(bad[i]))
            fail_msg("'%s' is no list", bad[i]);
}

static void gives_its_ranges(void **state)
{
    const char *at = "0,2-3,7";
    unsigned ranges[3][2];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(cpu_list_next(&at, &ranges[i][0], &ranges[i][1]));
    assert_false(cpu_list_next(&at, &ranges[0][0], &ranges[0][1]));
    assert_int_equal(ranges[1][0], 2);
    assert_int_equal(ranges[1][1], 3);
    assert_int_equal(ranges[2][0], 7);
    assert_int_equal(ranges[2][1], 7);
}

static void knows_what_two_have_in_common(void **state)
{
    (void)state;
    assert_true(cpu_lists_meet("0-3", "3"));
    assert_true(cpu_lists_meet("8,0-3", "1-2,9"));
    assert_true(cpu_lists_meet("1", "0-9"));
    assert_false(cpu_lists_meet("0-3,8-11", "4-7,12"));
    assert_false(cpu_lists_meet("0", "1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_list),
        cmocka_unit_test(gives_its_ranges),
        cmocka_unit_test(knows_what_two_have_in_common),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
