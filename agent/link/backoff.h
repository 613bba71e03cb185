/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.h - computes the wait before a retry */
#ifndef RINGBENCH_AGENT_LINK_BACKOFF_H
#define RINGBENCH_AGENT_LINK_BACKOFF_H

#include <stdint.h>

#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000

struct backoff {
    unsigned failures; /* in a row */
};

/* Return how long to wait after one more failure, in ms. The wait doubles from
 * BACKOFF_MIN_MS to BACKOFF_MAX_MS. Half of it is random, so that a thousand agents do
 * not return at the same time. */
uint64_t backoff_next(struct backoff *backoff);

void backoff_reset(struct backoff *backoff);

#endif
