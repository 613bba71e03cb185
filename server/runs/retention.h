/* retention.h - deletes runs that are too old or too many: each as a client would delete
 * it, one after the other, so that nothing else waits long. What is under way and what is
 * a baseline stays. */
#ifndef RINGBENCH_SERVER_RUNS_RETENTION_H
#define RINGBENCH_SERVER_RUNS_RETENTION_H

#include <stdint.h>
#include <uv.h>

#include "server/store/store.h"

struct retention;

/* Look at once, and each minute. keep_runs, keep_days: 0 is no limit. loop and store are
 * borrowed. */
struct retention *retention_create(uv_loop_t *loop, struct store *store,
                                   int64_t keep_runs, int64_t keep_days);

/* Stop, before the store is closed; it frees itself. NULL is fine. */
void retention_close(struct retention *retention);

#endif
