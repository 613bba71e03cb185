/* SPDX-License-Identifier: Apache-2.0 */
/* catchup.h - decides how a follower receives every event of a run once and in order.
 * Events come from pages of the store and, live, from the scheduler. The functions do no
 * I/O.
 *
 * The scheduler sends a live event only after the store contains the event. A follower
 * first subscribes to live events and then reads pages until a page is empty. It can then
 * lack only events that were sent live during the last read, so it reads again if there
 * were any. After that, it forwards live events as long as each id is the last id sent
 * plus 1. */
#ifndef RINGBENCH_SERVER_API_CATCHUP_H
#define RINGBENCH_SERVER_API_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

struct catchup {
    int64_t sent; /* last id sent to the client */
    int64_t seen; /* highest id of a live event */
    bool is_live; /* every earlier event was sent, so live events are sent on arrival */
    bool is_over; /* no live event will follow */
};

enum catchup_step {
    CATCHUP_READ, /* read a page after `sent` from the store */
    CATCHUP_WAIT, /* wait for live events */
    CATCHUP_END   /* every event was sent; end the answer */
};

/* after: the last id that the client received. is_over: no live events will come. */
void catchup_init(struct catchup *catchup, int64_t after, bool is_over);

/* Call after sending a page of `count` events up to last_id. */
enum catchup_step catchup_page(struct catchup *catchup, int64_t last_id, uint64_t count);

/* Handle a live event. Return true to send it now. Return false to drop it, because a
 * page contains or will contain it. If *step is CATCHUP_READ, read a page now. */
bool catchup_event(struct catchup *catchup, int64_t id, enum catchup_step *step);

/* Call when the live events end. Returns CATCHUP_WAIT while a page is being read. The
 * next step is then the result of catchup_page(). */
enum catchup_step catchup_over(struct catchup *catchup);

/* Call when the client reads too slowly. The follower then reads pages again, starting
 * after catchup->sent. */
void catchup_fall_back(struct catchup *catchup);

#endif
