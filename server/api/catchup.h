/* SPDX-License-Identifier: Apache-2.0 */
/* catchup.h - how a follower gets every event of a run once, in order, from two sources:
 * pages of the store, and what the scheduler shows live. Only decides; reads and sends
 * nothing.
 *
 * An event is in the store before it is shown live. So a follower that watches from the
 * start and reads pages until one is empty has missed nothing but what was shown while
 * that last page was read; then it reads once more. From there it takes the live events,
 * as long as each id follows the last one sent. */
#ifndef RINGBENCH_SERVER_API_CATCHUP_H
#define RINGBENCH_SERVER_API_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

struct catchup {
    int64_t sent; /* the last id that was sent */
    int64_t seen; /* the highest id that was shown live */
    bool is_live; /* nothing is missing: live events are sent as they come */
    bool is_over; /* no live event will come any more */
};

enum catchup_step {
    CATCHUP_READ, /* ask the store for a page after `sent` */
    CATCHUP_WAIT, /* for live events */
    CATCHUP_END   /* everything was sent */
};

/* after: the last id that the client has; is_over: there is nothing to watch. */
void catchup_init(struct catchup *catchup, int64_t after, bool is_over);

/* A page was sent: `count` events up to last_id. */
enum catchup_step catchup_page(struct catchup *catchup, int64_t last_id, uint64_t count);

/* A live event. True: send it now. False: drop it, a page has it or will have it; if
 * *step is CATCHUP_READ, a page must be read now. */
bool catchup_event(struct catchup *catchup, int64_t id, enum catchup_step *step);

/* The live events are over. CATCHUP_WAIT: a page is being read; its end decides. */
enum catchup_step catchup_over(struct catchup *catchup);

/* The client can't keep up: back to pages, from catchup->sent on. */
void catchup_fall_back(struct catchup *catchup);

#endif
