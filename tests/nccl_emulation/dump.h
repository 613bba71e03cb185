/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - the topology that the emulated NCCL writes where it is asked to */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_DUMP_H
#define RINGBENCH_TESTS_NCCL_EMULATION_DUMP_H

/* As NCCL: one rank of the communicator writes. With a file that says what the topology
 * is, what that says. */
void dump_topology(int rank);

#endif
