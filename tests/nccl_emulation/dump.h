/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - the topology file that the emulated NCCL writes on request */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_DUMP_H
#define RINGBENCH_TESTS_NCCL_EMULATION_DUMP_H

/* As in NCCL, one rank of the communicator writes. If a topology file is given, its
 * content is written. */
void dump_topology(int rank);

#endif
