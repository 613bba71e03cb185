/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - print the stacks of all threads of this process to stderr on SIGUSR2
 *
 * A separate thread waits for SIGUSR2, because the main thread may hang where it handles
 * no signal. The separate thread sends a real-time signal to all other threads. Each
 * thread's signal handler stores the addresses of its frames, and the separate thread
 * looks up their names. Neither allocates memory nor takes the dynamic linker's lock,
 * which a hanging thread may hold. Functions that are not exported appear as "?". The
 * main thread is printed first:
 *
 *
 *     stack: 3 threads of process 4711
 *     stack: thread 4711 (main), state S
 *     stack:   #0 read+0x1d (libc.so.6+0xf81ad)
 *     stack:   #1 ? (libnccl.so.2+0x3a51)
 *     stack:   #2 ncclCommInitRank+0x151 (libnccl.so.2+0x61191)
 *     stack: thread 4713 (progress), state D
 *     stack:   no answer in 1000 ms, in nfs_wait_on_request
 *     ...
 *     stack: end */
#ifndef RINGBENCH_WORKER_BASE_STACKS_H
#define RINGBENCH_WORKER_BASE_STACKS_H

#include "common/base/error.h"

#define STACKS_THREADS_MAX 64
#define STACKS_FRAMES_MAX 32 /* per thread */

/* Call once from the main thread, before it starts other threads. Blocks SIGUSR2 in the
 * main thread and its later children. Stays active until the process ends. */
int stacks_start(struct error *err);

/* The real-time signal that makes a thread store its stack. Threads must not block this
 * signal. */
int stacks_signal(void);

#endif
