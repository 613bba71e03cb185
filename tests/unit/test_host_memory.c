/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_memory.c - how much host memory a rank may take */
#include "agent/worker/host/memory.h"
#include "tests/unit/test.h"

TEST(meminfo_lines_are_found_by_their_whole_name)
{
    static const char text[] = "MemTotal:       1000 kB\nMemFree:         200 kB\n"
                               "MemAvailable:    500 kB\n";

    assert_int_equal(memory_parse_meminfo(text, "MemTotal"), 1024000);
    assert_int_equal(memory_parse_meminfo(text, "MemAvailable"), 512000);
    assert_int_equal(memory_parse_meminfo(text, "Mem"), 0);
    assert_int_equal(memory_parse_meminfo("", "MemTotal"), 0);
}

TEST(more_ranks_get_less_each)
{
    struct backend_memory one, four;

    memory_share(1, &one);
    memory_share(4, &four);
    assert_true(one.bytes > 0 && one.bytes < memory_total());
    assert_true(four.bytes < one.bytes / 2);
    assert_non_null(strstr(four.text, "shared by 4 ranks"));
    assert_non_null(strstr(four.text, "reserve"));
}
