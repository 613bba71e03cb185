/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - threads that a worker has beside its own */
#ifndef RINGBENCH_WORKER_BASE_THREAD_H
#define RINGBENCH_WORKER_BASE_THREAD_H

#include <pthread.h>

/* Start a thread that takes no signals, which are the worker's own thread's, but for the
 * one that asks for its stack. `name` (15 bytes at most) is what ps and stacks call it.
 * Returns 0 or an errno value. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
