/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - start additional threads of a worker */
#ifndef RINGBENCH_WORKER_BASE_THREAD_H
#define RINGBENCH_WORKER_BASE_THREAD_H

#include <pthread.h>

/* Start a thread that blocks all signals except stacks_signal(): the main thread handles
 * the other signals. `name`, at most 15 bytes, appears in ps and in printed stacks.
 * Returns 0 or an errno value. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

#endif
