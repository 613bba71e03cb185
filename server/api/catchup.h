/* SPDX-License-Identifier: Apache-2.0 */
/* catchup.h - how a follower gets every event of a run once and in order from two
 * sources: pages of the store, and the scheduler's live events. Only decides; reads and
 * sends nothing.
 *
 * An event is in the store before it is shown live. A follower that listens from the
 * start and reads pages until one is empty can have missed only events shown while that
 * page was read. Then it reads once more. From there it takes live events, as long as
 * each id follows the last one sent. */
#ifndef RINGBENCH_SERVER_API_CATCHUP_H
#define RINGBENCH_SERVER_API_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

struct catchup {
    int64_t sent; /* last id sent to the client */
    int64_t seen; /* highest id shown live */
    bool is_live; /* nothing is missing: send live events as they come */
    bool is_over; /* no live event will follow */
};

enum catchup_step {
    CATCHUP_READ, /* read a page after `sent` from the store */
    CATCHUP_WAIT, /* wait for live events */
    CATCHUP_END   /* everything was sent */
};

/* after: the last id that the client received. is_over: no live events will come. */
void catchup_init(struct catchup *catchup, int64_t after, bool is_over);

/* Call after sending a page of `count` events up to last_id. */
enum catchup_step catchup_page(struct catchup *catchup, int64_t last_id, uint64_t count);

/* Handle a live event. True: send it now. False: drop it, because a page contains or will
 * contain it; if *step is CATCHUP_READ, read a page now. */
bool catchup_event(struct catchup *catchup, int64_t id, enum catchup_step *step);

/* Call when the live events end. CATCHUP_WAIT: a page is being read, and its end
 * decides. */
enum catchup_step catchup_over(struct catchup *catchup);

/* Call when the client cannot keep up: go back to pages, after catchup->sent. */
void catchup_fall_back(struct catchup *catchup);

#endif
