/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_list.c - CPUs as the kernel lists them */
#include "common/base/cpu_list.h"
#include "tests/unit/test.h"

TEST(knows_a_list)
{
    static const char *const good[] = {"0", "0,2-3", "0-0", "10-12,65535"};
    static const char *const bad[] = {"",   ",",    "0,",    "-1",  "3-2",   "0 ",
                                      "0-", "0,,1", "a",     "0x1", "65536", "0-65536",
                                      "+1", " 1",   "1-2-3", "1;2"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!cpu_list_is_valid(good[i]))
            fail_msg("'%s' is a list", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (cpu_list_is_valid(bad[i]))
            fail_msg("'%s' is no list", bad[i]);
}

TEST(gives_its_ranges)
{
    const char *at = "0,2-3,7";
    unsigned ranges[3][2];

    for (int i = 0; i < 3; i++)
        assert_true(cpu_list_next(&at, &ranges[i][0], &ranges[i][1]));
    assert_false(cpu_list_next(&at, &ranges[0][0], &ranges[0][1]));
    assert_int_equal(ranges[1][0], 2);
    assert_int_equal(ranges[1][1], 3);
    assert_int_equal(ranges[2][0], 7);
    assert_int_equal(ranges[2][1], 7);
}

TEST(knows_what_two_have_in_common)
{
    assert_true(cpu_lists_meet("0-3", "3"));
    assert_true(cpu_lists_meet("8,0-3", "1-2,9"));
    assert_true(cpu_lists_meet("1", "0-9"));
    assert_false(cpu_lists_meet("0-3,8-11", "4-7,12"));
    assert_false(cpu_lists_meet("0", "1"));
}
