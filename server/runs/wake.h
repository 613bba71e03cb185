/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h - when the scheduler next looks at its deadlines, and whether at its queue */
#ifndef RINGBENCH_SERVER_RUNS_WAKE_H
#define RINGBENCH_SERVER_RUNS_WAKE_H

#include <stdbool.h>
#include <uv.h>

struct wake;

/* tick: what is called. */
struct wake *wake_create(uv_loop_t *loop, void (*tick)(void *arg), void *arg);

/* No tick comes from here on. `closed` runs on the loop. */
void wake_close(struct wake *wake, void (*closed)(void *arg));

/* Once closed, when nobody has it any more. */
void wake_free(struct wake *wake);

/* Have a tick before the loop waits again. */
void wake_soon(struct wake *wake);

/* The same, and look for nodes for waiting runs: something changed that can let one of
 * them begin, as nodes did, or the runs that use them. */
void wake_queue(struct wake *wake);

/* Whether to look for nodes, as somebody said since the last such call. */
bool wake_take_queue(struct wake *wake);

#endif
