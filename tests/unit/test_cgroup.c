/* SPDX-License-Identifier: Apache-2.0 */
/* test_cgroup.c - a case's cgroup stays while its maker lives, and no longer */
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "agent/case/cgroup.h"
#include "tests/unit/test.h"

/* Above every pid there can be, as one from another namespace of pids may be unknown
 * here. */
#define UNKNOWN_PID "4194305"

static bool is_there(const char *dir)
{
    struct stat info;

    return stat(dir, &info) == 0;
}

/* Make a cgroup and remove it: one at the start of a case removes what others left. */
static bool make_another(char *dir, size_t size)
{
    int cgroup = cgroup_make(dir, size);

    cgroup_remove(dir);
    return cgroup >= 0 && close(cgroup) == 0;
}

TEST(the_cgroup_of_a_maker_with_an_unknown_pid_stays_while_it_lives)
{
    char dir[PATH_MAX], other[PATH_MAX + 16];
    int maker;

    if (!make_another(dir, sizeof(dir)))
        skip(); /* none may be made here */
    snprintf(other, sizeof(other), "%.*s" UNKNOWN_PID, (int)(strrchr(dir, '-') + 1 - dir),
             dir);
    assert_int_equal(mkdir(other, 0755), 0);
    maker = open(other, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(maker, LOCK_SH), 0);
    make_another(dir, sizeof(dir));
    assert_true(is_there(other));

    close(maker);
    make_another(dir, sizeof(dir));
    assert_false(is_there(other));
}
