/* SPDX-License-Identifier: Apache-2.0 */
/* test_affinity.c - a rank keeps to the CPUs that it was given */
#include <sched.h>

#include "agent/worker/base/affinity.h"
#include "agent/worker/base/cpu_clock.h"
#include "tests/unit/test.h"

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

TEST(keeps_to_its_cpus)
{
    char list[16];
    cpu_set_t set;
    int cpu = last_cpu();

    snprintf(list, sizeof(list), "%d", cpu);
    assert_int_equal(affinity_apply(NULL, NULL), 0);
    assert_int_equal(affinity_apply(list, NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(CPU_ISSET((unsigned)cpu, &set));
}

TEST(says_what_it_can_not_do)
{
    struct error err;

    assert_int_equal(affinity_apply("0,", &err), -1);
    assert_string_equal(err.text,
                        "environment: RINGBENCH_CPUS=0, must be a list like 0,2-3");
    assert_int_equal(affinity_apply("9000", &err), -1);
    assert_int_equal(affinity_apply("8191", &err), -1);
    assert_non_null(strstr(err.text, "RINGBENCH_CPUS=8191: Invalid argument"));
}

TEST(knows_whether_it_was_given_any)
{
    unsetenv("RINGBENCH_CPUS");
    assert_false(affinity_is_given());
    setenv("RINGBENCH_CPUS", "3", 1);
    assert_true(affinity_is_given());
    assert_string_equal(affinity_given(), "3");
}

TEST(a_host_without_cpufreq_tells_no_clock)
{
    double mhz = cpu_clock_mhz("/nonexistent");

    assert_false(mhz > 0.0);
}
