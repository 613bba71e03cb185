/* test_caches.c - caches are those of the CPUs asked for, each counted once */
#include "agent/worker/base/caches.h"
#include "common/base/this_machine.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/test.h"

static void put_cache(unsigned cpu, int index, const char *size, const char *shared)
{
    const char *const texts[][2] = {{"level", index < 2    ? "1"
                                              : index == 2 ? "2"
                                                           : "3"},
                                    {"type", index == 1 ? "Instruction" : "Unified"},
                                    {"size", size},
                                    {"shared_cpu_list", shared}};
    char path[200], line[64];

    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%d/%s",
                 cpu, index, texts[i][0]);
        snprintf(line, sizeof(line), "%s\n", texts[i][1]);
        put(path, line);
    }
}

TEST(each_is_counted_once)
{
    cpu_set_t *set = CPU_ALLOC(THIS_MACHINE_CPUS_MAX);

    set_up(NULL);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        char own[8];

        snprintf(own, sizeof(own), "%u", cpu);
        put_cache(cpu, 0, "48K", own);
        put_cache(cpu, 1, "32K", own);
        put_cache(cpu, 2, "1024K", own);
        put_cache(cpu, 3, "32M", cpu < 2 ? "0-1" : "2-3");
    }
    CPU_ZERO_S(THIS_MACHINE_CPUS_SIZE, set);
    assert_int_equal(caches_bytes(root, set), 0);
    CPU_SET_S(1, THIS_MACHINE_CPUS_SIZE, set);
    assert_int_equal(caches_bytes(root, set), 33u << 20);
    CPU_SET_S(0, THIS_MACHINE_CPUS_SIZE, set);
    assert_int_equal(caches_bytes(root, set), 34u << 20);
    CPU_SET_S(3, THIS_MACHINE_CPUS_SIZE, set);
    assert_int_equal(caches_bytes(root, set), 67u << 20);
    CPU_SET_S(9, THIS_MACHINE_CPUS_SIZE, set); /* says nothing */
    assert_int_equal(caches_bytes(root, set), 67u << 20);
    CPU_FREE(set);
    tear_down(NULL);
}
