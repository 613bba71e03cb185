/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - what every thread of this process is doing, on stderr, upon SIGUSR2
 *
 * A thread of its own waits for the question, since the worker's may be stuck where it
 * takes no signal. It asks all others at once by a real-time signal, whose handler keeps
 * the addresses of the thread's frames; their names are looked up afterwards, out of the
 * handler. Neither allocates memory nor takes the dynamic linker's lock, which a thread
 * that is stuck may hold. Exported functions have names; others are "?". What is printed,
 * the thread that says most first:
 *
 *     stack: 3 threads of process 4711
 *     stack: thread 4711 (main), state S
 *     stack:   #0 read+0x1d (libc.so.6+0xf81ad)
 *     stack:   #1 ? (libnccl.so.2+0x3a51)
 *     stack:   #2 ncclCommInitRank+0x151 (libnccl.so.2+0x61191)
 *     stack: thread 4713 (progress), state D
 *     stack:   no answer in 1000 ms, in nfs_wait_on_request
 *     ...
 *     stack: end
 */
#ifndef RINGBENCH_WORKER_BASE_STACKS_H
#define RINGBENCH_WORKER_BASE_STACKS_H

#include "common/base/error.h"

#define STACKS_THREADS_MAX 64
#define STACKS_FRAMES_MAX 32 /* of a thread */

/* From the worker's first thread, before it starts others: SIGUSR2 is blocked in it and
 * in those that it starts. To be called once; lasts as long as the process. */
int stacks_start(struct error *err);

/* The signal that asks a thread; not to be blocked. */
int stacks_signal(void);

#endif
