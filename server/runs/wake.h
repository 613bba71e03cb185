/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h - when the scheduler next checks its deadlines, and whether it checks its queue
 */
#ifndef RINGBENCH_SERVER_RUNS_WAKE_H
#define RINGBENCH_SERVER_RUNS_WAKE_H

#include <stdbool.h>
#include <uv.h>

struct wake;

/* tick: the callback for each tick. */
struct wake *wake_create(uv_loop_t *loop, void (*tick)(void *arg), void *arg);

/* Stop all ticks. `closed` runs on the loop. */
void wake_close(struct wake *wake, void (*closed)(void *arg));

/* Free a closed wake that is not referenced any more. */
void wake_free(struct wake *wake);

/* Request a tick before the loop waits again. */
void wake_soon(struct wake *wake);

/* Request a tick that also searches nodes for waiting runs. Call this after a change of
 * nodes or runs that may let a waiting run begin. */
void wake_queue(struct wake *wake);

/* Whether wake_queue() was called since the last call of this function. */
bool wake_take_queue(struct wake *wake);

#endif
