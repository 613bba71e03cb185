/* SPDX-License-Identifier: Apache-2.0 */
/* test_process_state.c - what the kernel does with a process */
#include <sys/wait.h>

#include "agent/machine/process_state.h"
#include "tests/unit/test.h"

TEST(a_stopped_process_is_seen_as_such_and_one_that_is_gone_as_unknown)
{
    struct process_state seen;
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            pause();
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    process_state_read(pid, &seen);
    assert_string_equal(seen.state, "T");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    process_state_read(pid, &seen);
    assert_string_equal(seen.state, "");
    process_state_read(getpid(), &seen);
    assert_string_equal(seen.state, "R");
    assert_string_equal(seen.kernel, "");
}
