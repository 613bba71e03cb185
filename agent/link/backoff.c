/* SPDX-License-Identifier: Apache-2.0 */
/* backoff.c - computes the wait before a retry */
#include "agent/link/backoff.h"

#include <sys/random.h>

uint64_t backoff_next(struct backoff *backoff)
{
    uint64_t wait = BACKOFF_MAX_MS;
    uint32_t random = 0;

    if (backoff->failures < 6)
        wait = (uint64_t)BACKOFF_MIN_MS << backoff->failures++;
    if (wait > BACKOFF_MAX_MS)
        wait = BACKOFF_MAX_MS;
    if (getrandom(&random, sizeof(random), 0) < 0)
        random = 0;
    return wait / 2 + random % (wait / 2 + 1);
}

void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
}
