/* watch_clock.h - the time by which watches are due */
#ifndef RINGBENCH_SERVER_WATCHES_WATCH_CLOCK_H
#define RINGBENCH_SERVER_WATCHES_WATCH_CLOCK_H

#include "common/base/clock.h"

/* NULL, which is the system's clock. In test builds (time_scale.h), and if
 * RINGBENCH_WATCH_CLOCK names a file: a clock that is ahead by the milliseconds in that
 * file, which is read at each look. */
const struct clock *watch_clock(void);

#endif
