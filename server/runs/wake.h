/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h - requests the scheduler's next tick, with or without a queue check */
#ifndef RINGBENCH_SERVER_RUNS_WAKE_H
#define RINGBENCH_SERVER_RUNS_WAKE_H

#include <stdbool.h>
#include <uv.h>

struct wake;

/* Create a wake. tick: called for each requested tick. */
struct wake *wake_create(uv_loop_t *loop, void (*tick)(void *arg), void *arg);

/* Stop all ticks. `closed` runs on the loop. */
void wake_close(struct wake *wake, void (*closed)(void *arg));

/* Free a wake after `closed` was called. */
void wake_free(struct wake *wake);

/* Request a tick before the loop waits again. */
void wake_soon(struct wake *wake);

/* Request a tick that also searches nodes for waiting runs. Call this after a change of
 * nodes or runs that may allow a waiting run to begin. */
void wake_queue(struct wake *wake);

/* Return true if wake_queue() was called since the previous call of this function. */
bool wake_take_queue(struct wake *wake);

#endif
