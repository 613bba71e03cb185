/* SPDX-License-Identifier: Apache-2.0 */
/* process_state.h - reads the state of a process that may hang from /proc */
#ifndef RINGBENCH_AGENT_MACHINE_PROCESS_STATE_H
#define RINGBENCH_AGENT_MACHINE_PROCESS_STATE_H

#include <stddef.h>
#include <sys/types.h>

struct process_state {
    char state[2];   /* as in proc(5): "T" stopped, "D" in the kernel; "": unknown */
    char kernel[64]; /* with "D" the kernel's function; "": unknown */
};

/* Read the state of the first thread, or "D" if any thread is in state D. */
void process_state_read(pid_t pid, struct process_state *out);

#endif
