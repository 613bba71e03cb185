/* test_agent_neighbours.c - agents of a machine see each other */
#include "agent/bind/neighbours.h"
#include "tests/unit/test.h"

#define LIST "/proc/net/unix"

static hwloc_cpuset_t set_of(const char *list)
{
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();

    hwloc_bitmap_list_sscanf(cpus, list);
    return cpus;
}

static size_t count(const char *machine, const char *list)
{
    hwloc_cpuset_t cpus = set_of(list);
    size_t n = neighbours_count(LIST, machine, cpus);

    hwloc_bitmap_free(cpus);
    return n;
}

static int announce(const char *machine, const char *list)
{
    hwloc_cpuset_t cpus = set_of(list);
    int fd = neighbours_announce(machine, cpus);

    hwloc_bitmap_free(cpus);
    assert_true(fd >= 0);
    return fd;
}

TEST(counts_who_may_use_the_same_cpus)
{
    char machine[64];
    int one, two, far;

    snprintf(machine, sizeof(machine), "test-%d", (int)getpid());
    assert_int_equal(count(machine, "0-3"), 0);
    one = announce(machine, "0-1");
    two = announce(machine, "1-3");
    far = announce("elsewhere", "0-3");
    assert_int_equal(count(machine, "0-3"), 2);
    assert_int_equal(count(machine, "0"), 1);
    assert_int_equal(count(machine, "4-7"), 0);
    close(two);
    assert_int_equal(count(machine, "0-3"), 1);
    close(one);
    close(far);
}

/* A name has room for so much: who does not fit may use any. */
TEST(a_long_list_means_all)
{
    char machine[64], list[256] = "0";
    int fd;

    snprintf(machine, sizeof(machine), "test-%d", (int)getpid());
    for (int i = 1; i < 30; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%d", 10 * i);
    fd = announce(machine, list);
    assert_int_equal(count(machine, "1001"), 1);
    close(fd);
}

/* Machines that number their sockets by turns. */
TEST(every_second_cpu_is_no_long_list)
{
    char machine[64], even[512] = "0", odd[512] = "1";
    int fd;

    snprintf(machine, sizeof(machine), "test-%d", (int)getpid());
    for (int i = 1; i < 64; i++) {
        snprintf(even + strlen(even), sizeof(even) - strlen(even), ",%d", 2 * i);
        snprintf(odd + strlen(odd), sizeof(odd) - strlen(odd), ",%d", 2 * i + 1);
    }
    fd = announce(machine, even);
    assert_int_equal(count(machine, odd), 0);
    assert_int_equal(count(machine, even), 1);
    close(fd);
}

TEST(a_name_for_the_machine_can_be_given)
{
    char text[NEIGHBOURS_MACHINE_MAX];

    unsetenv("RINGBENCH_MACHINE");
    assert_int_equal(strlen(neighbours_machine(text)), 36);
    setenv("RINGBENCH_MACHINE", "m", 1);
    assert_string_equal(neighbours_machine(text), "m");
}
