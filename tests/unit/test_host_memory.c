/* test_host_memory.c - how much host memory a rank may take */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agent/worker/host/memory.h"

static void meminfo_lines_are_found_by_their_whole_name(void **state)
{
    static const char text[] = "MemTotal:       1000 kB\nMemFree:         200 kB\n"
                               "MemAvailable:    500 kB\n";

    (void)state;
    assert_int_equal(memory_parse_meminfo(text, "MemTotal"), 1024000);
    assert_int_equal(memory_parse_meminfo(text, "MemAvailable"), 512000);
    assert_int_equal(memory_parse_meminfo(text, "Mem"), 0);
    assert_int_equal(memory_parse_meminfo("", "MemTotal"), 0);
}

static void more_ranks_get_less_each(void **state)
{
    struct backend_memory one, four;

    (void)state;
    memory_share(1, &one);
    memory_share(4, &four);
    assert_true(one.bytes > 0 && one.bytes < memory_total());
    assert_true(four.bytes < one.bytes / 2);
    assert_non_null(strstr(four.text, "shared by 4 ranks"));
    assert_non_null(strstr(four.text, "reserve"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meminfo_lines_are_found_by_their_whole_name),
        cmocka_unit_test(more_ranks_get_less_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
