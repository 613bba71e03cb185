/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - the log of the emulated NCCL with NCCL_DEBUG=INFO, with lines of 2.28 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_SAY_H
#define RINGBENCH_TESTS_NCCL_EMULATION_SAY_H

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Print the lines before anything can hang, and those of a created communicator. */
void say_start(int rank, int n);
void say_ways(int rank, int n);

/* Print the connection to a peer for sends and receives. */
void say_peer(int rank, int peer);

#endif
