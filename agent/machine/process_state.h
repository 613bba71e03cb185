/* SPDX-License-Identifier: Apache-2.0 */
/* process_state.h - what the kernel does with a process, by /proc: for one that cannot
 * speak for itself */
#ifndef RINGBENCH_AGENT_MACHINE_PROCESS_STATE_H
#define RINGBENCH_AGENT_MACHINE_PROCESS_STATE_H

#include <stddef.h>
#include <sys/types.h>

struct process_state {
    char state[2]; /* as proc(5) has it: "T" stopped, "D" in the kernel; "": not known */
    char kernel[64]; /* with "D" the kernel's function, "" where it is not told */
};

/* A thread in state D speaks for its process, else the first thread does. */
void process_state_read(pid_t pid, struct process_state *out);

#endif
