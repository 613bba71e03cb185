/* SPDX-License-Identifier: Apache-2.0 */
/* test_machine_sample.c - what the kernel has counted, on hosts that are made up */
#include "agent/machine/sample.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/test.h"

EACH_FIXTURE(set_up, tear_down);

static void take(const char *list, struct machine_sample *sample)
{
    machine_sample_read(root, list, sample);
}

TEST(adds_up_the_cpus_that_are_meant)
{
    struct machine_sample sample;

    put("/proc/stat", "cpu  9999 0 0 0 0 0 0 0 0 0\n"
                      "cpu0 100 1 20 1000 5 2 3 7 50 0\n"
                      "cpu1 9999 0 0 0 0 0 0 0 0 0\n"
                      "cpu10 10 0 0 100 0 0 0 1 0 0\nintr 5\ncpufoo 1\n");
    take("0,10", &sample);
    assert_int_equal(sample.busy, 100 + 1 + 20 + 2 + 3 + 10);
    assert_int_equal(sample.stolen, 8);
    assert_int_equal(sample.all, 100 + 1 + 20 + 1000 + 5 + 2 + 3 + 7 + 111);
}

TEST(reads_pressure_and_load)
{
    struct machine_sample sample;

    put("/proc/loadavg", "1.25 2.00 3.00 1/99 1234\n");
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\n"
                              "full avg10=0.00 avg60=0.00 avg300=0.00 total=45\n");
    put("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=6\n");
    take("0", &sample);
    assert_true(fabs(sample.load - 1.25) < 1e-9);
    assert_int_equal(sample.cpu_pressure_us, 123);
    assert_int_equal(sample.memory_pressure_us, 6);
}

TEST(adds_up_quotas_of_all_levels)
{
    struct machine_sample sample;

    put("/proc/self/cgroup", "4:memory:/x\n0::/pod/agent\n");
    put("/sys/fs/cgroup/pod/agent/cpu.stat", "usage_usec 5\nnr_throttled 2\n"
                                             "throttled_usec 300\n");
    put("/sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nthrottled_usec 40\n");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
    take("0", &sample);
    assert_int_equal(sample.quota_us, 340);
}

TEST(adds_up_throttled_cores)
{
    struct machine_sample sample;

    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
    put("/sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "4\n");
    take("0,2", &sample);
    assert_int_equal(sample.thermal, 7);
}

TEST(a_host_that_says_nothing_is_no_idle_host)
{
    struct machine_sample sample;

    take("0-1", &sample);
    assert_int_equal(sample.busy, -1);
    assert_int_equal(sample.stolen, -1);
    assert_int_equal(sample.cpu_pressure_us, -1);
    assert_int_equal(sample.memory_pressure_us, -1);
    assert_int_equal(sample.quota_us, -1);
    assert_int_equal(sample.thermal, -1);
    assert_true(isnan(sample.load));
}
