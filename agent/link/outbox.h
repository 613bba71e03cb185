/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - every event on its way to the server: numbered and spooled if it is to be
 * stored, the latest of each rank if it is mere progress */
#ifndef RINGBENCH_AGENT_LINK_OUTBOX_H
#define RINGBENCH_AGENT_LINK_OUTBOX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/case/event_stream.h"
#include "agent/link/command.h"
#include "agent/link/spool.h"
#include "common/base/buf.h"
#include "common/base/error.h"

/* What a POST may carry (docs/development/agent-protocol.md), and what we put in one by
 * choice. */
#define OUTBOX_BODY_MAX ((size_t)4 * 1024 * 1024)
#define OUTBOX_BATCH_BYTES ((size_t)1024 * 1024)

struct outbox;

struct outbox_handlers {
    void (*on_ready)(void *arg);    /* there is something to send; urgent */
    void (*on_progress)(void *arg); /* likewise, but it may wait for company */
    void *arg;
};

/* One POST's worth of events. */
struct outbox_batch {
    struct buf body;
    int64_t lines; /* stored ones */
    uint64_t last; /* number of the last stored one; 0 if there is none */
};

/* The spool is borrowed. */
struct outbox *outbox_create(struct spool *spool, const struct outbox_handlers *handlers);
void outbox_destroy(struct outbox *outbox);

/* Add an event of the agent's own. Takes the reference to `event`, also on failure, which
 * is logged. Returns its number, 0 on failure. */
uint64_t outbox_add_steal(struct outbox *outbox, const struct case_id *id, int rank,
                          json_t *event);

/* Add a worker's event line, which event_line_parse has passed. */
void outbox_add_line(struct outbox *outbox, const struct case_id *id, int rank,
                     const char *line, size_t len);

/* Put a worker's progress line in the place of the rank's earlier one. */
void outbox_set_progress(struct outbox *outbox, const struct case_id *id, int rank,
                         const char *line, size_t len);

/* Forget the progress of a rank that has ended. */
void outbox_drop_progress(struct outbox *outbox, const struct case_id *id, int rank);

bool outbox_has_stored(const struct outbox *outbox); /* unacknowledged events */
bool outbox_has_progress(const struct outbox *outbox);
uint64_t outbox_acked(const struct outbox *outbox);

/* Fill *batch (initialised by outbox_batch_init) with at most max_lines stored events and
 * the progress there is, which is forgotten by that. -1 if the spool can't be read. */
void outbox_batch_init(struct outbox_batch *batch);
void outbox_batch_release(struct outbox_batch *batch);
int outbox_take_batch(struct outbox *outbox, int64_t max_lines,
                      struct outbox_batch *batch, struct error *err);

/* The server has stored everything up to seq. Errors as spool_ack. */
int outbox_ack(struct outbox *outbox, uint64_t seq, struct error *err);

/* The server refuses event `seq` itself, the oldest one: send in its place a log line
 * that says so. */
void outbox_replace(struct outbox *outbox, uint64_t seq, const char *why);

/* The disk has no room for events, which wait in memory. */
bool outbox_is_blocked(const struct outbox *outbox);

/* Forget all events and count from 1 again. */
void outbox_reset(struct outbox *outbox);

#endif
