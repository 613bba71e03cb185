/* test_affinity.c - a rank keeps to the CPUs that it was given */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/worker/base/affinity.h"
#include "agent/worker/base/cpu_clock.h"

static int last_cpu(void)
{
    cpu_set_t set;
    int last = -1;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((unsigned)cpu, &set))
            last = cpu;
    return last;
}

static void keeps_to_its_cpus(void **state)
{
    char list[16];
    cpu_set_t set;
    int cpu = last_cpu();

    (void)state;
    snprintf(list, sizeof(list), "%d", cpu);
    assert_int_equal(affinity_apply(NULL, NULL), 0);
    assert_int_equal(affinity_apply(list, NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET((unsigned)cpu, &set));
}

static void says_what_it_can_not_do(void **state)
{
    struct error err;

    (void)state;
    assert_int_equal(affinity_apply("0,", &err), -1);
    assert_string_equal(err.text, "environment: RINGBENCH_CPUS=0, must be such as 0,2-3");
    assert_int_equal(affinity_apply("9000", &err), -1);
    assert_int_equal(affinity_apply("8191", &err), -1);
    assert_non_null(strstr(err.text, "RINGBENCH_CPUS=8191: Invalid argument"));
}

static void knows_whether_it_was_given_any(void **state)
{
    (void)state;
    unsetenv("RINGBENCH_CPUS");
    assert_false(affinity_is_given());
    setenv("RINGBENCH_CPUS", "3", 1);
    assert_true(affinity_is_given());
    assert_string_equal(affinity_given(), "3");
}

static void a_host_without_cpufreq_tells_no_clock(void **state)
{
    double mhz = cpu_clock_mhz("/nonexistent");

    (void)state;
    assert_false(mhz > 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_to_its_cpus),
        cmocka_unit_test(says_what_it_can_not_do),
        cmocka_unit_test(knows_whether_it_was_given_any),
        cmocka_unit_test(a_host_without_cpufreq_tells_no_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
