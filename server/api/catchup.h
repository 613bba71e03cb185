/* SPDX-License-Identifier: Apache-2.0 */
/* catchup.h - decides how a follower gets every event of a run once and in order from two
 * sources: pages of the store, and the scheduler's live events. It reads and sends
 * nothing itself.
 *
 * An event is in the store before the scheduler shows it live. A follower listens first
 * and then reads pages until one is empty. It can then have missed only events that were
 * shown while it read the empty page, so it reads once more if there were any. After that
 * it takes live events, while each id is the last one sent plus 1. */
#ifndef RINGBENCH_SERVER_API_CATCHUP_H
#define RINGBENCH_SERVER_API_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

struct catchup {
    int64_t sent; /* last id sent to the client */
    int64_t seen; /* highest id shown live */
    bool is_live; /* every earlier event was sent: send live events as they come */
    bool is_over; /* no live event will follow */
};

enum catchup_step {
    CATCHUP_READ, /* read a page after `sent` from the store */
    CATCHUP_WAIT, /* wait for live events */
    CATCHUP_END   /* every event was sent: end */
};

/* after: the last id that the client received. is_over: no live events will come. */
void catchup_init(struct catchup *catchup, int64_t after, bool is_over);

/* Call after sending a page of `count` events up to last_id. */
enum catchup_step catchup_page(struct catchup *catchup, int64_t last_id, uint64_t count);

/* Handle a live event. True: send it now. False: drop it, because a page contains or will
 * contain it; if *step is CATCHUP_READ, read a page now. */
bool catchup_event(struct catchup *catchup, int64_t id, enum catchup_step *step);

/* Call when the live events end. The result is CATCHUP_WAIT while a page is being read:
 * the next step then follows from catchup_page(). */
enum catchup_step catchup_over(struct catchup *catchup);

/* Call when the client reads too slowly: read pages again, starting after
 * catchup->sent. */
void catchup_fall_back(struct catchup *catchup);

#endif
