/* SPDX-License-Identifier: Apache-2.0 */
/* test_this_machine.c - the machine that this program runs on */
#include "common/base/fnv.h"
#include "common/base/this_machine.h"
#include "tests/unit/test.h"

static size_t kernel_cpus; /* as many as its own sets have; 0: it knows no such call */

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

/* As sched_getaffinity(2) has it: 0, 3 and the last. */
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (size * 8 < kernel_cpus || !kernel_cpus) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(size, set);
    CPU_SET_S(0, size, set);
    CPU_SET_S(3, size, set);
    CPU_SET_S(kernel_cpus - 1, size, set);
    return 0;
}

TEST(large_machines_tell_their_cpus_too)
{
    for (kernel_cpus = 64; kernel_cpus <= THIS_MACHINE_CPUS_MAX; kernel_cpus *= 2) {
        cpu_set_t *set = this_machine_cpus();

        assert_non_null(set);
        assert_true(CPU_ISSET_S(3, THIS_MACHINE_CPUS_SIZE, set));
        assert_true(CPU_ISSET_S(kernel_cpus - 1, THIS_MACHINE_CPUS_SIZE, set));
        assert_int_equal(this_machine_cpus_count(), 3);
        CPU_FREE(set);
    }
}

TEST(what_the_kernel_does_not_tell_is_unknown)
{
    char tight[2];

    kernel_cpus = 0;
    assert_null(this_machine_cpus());
    assert_int_equal(this_machine_cpus_count(), 0);
    assert_string_equal(this_machine_boot_id(tight, 1), "");
}

/* Of the draft: agents and workers of several versions must come to the same. */
TEST(hashes_are_those_of_the_draft)
{
    assert_true(fnv1a(FNV1A_BEGIN, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(fnv1a(FNV1A_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(fnv1a(fnv1a(FNV1A_BEGIN, "foo", 3), "bar", 3) ==
                UINT64_C(0x85944171f73967e8));
}
