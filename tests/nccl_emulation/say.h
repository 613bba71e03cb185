/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - what the emulated NCCL prints with NCCL_DEBUG=INFO: lines of 2.28 */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_SAY_H
#define RINGBENCH_TESTS_NCCL_EMULATION_SAY_H

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Before anything can hang, and when the communicator is there. */
void say_start(int rank, int n);
void say_ways(int rank, int n);

/* A rank that sends and receives are connected with. */
void say_peer(int rank, int peer);

#endif
