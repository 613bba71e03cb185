/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - keeps events that wait for the server
 *
 * Events that the server stores are numbered and spooled. The server does not store
 * progress events, so the outbox keeps only the latest of each rank. */
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

/* The size limit of a POST (docs/development/agent-protocol.md), and the usual size of a
 * batch. */
#define OUTBOX_BODY_MAX ((size_t)4 * 1024 * 1024)
#define OUTBOX_BATCH_BYTES ((size_t)1024 * 1024)

struct outbox;

struct outbox_handlers {
    void (*on_ready)(void *arg); /* an event is ready to send */
    void (*on_progress)(
        void *arg); /* progress is ready and may wait for the next batch */
    void *arg;
};

/* The events of one POST. */
struct outbox_batch {
    struct buf body;
    int64_t lines; /* number of stored events */
    uint64_t last; /* sequence number of the last stored event; 0: none */
};

/* The spool is borrowed. */
struct outbox *outbox_create(struct spool *spool, const struct outbox_handlers *handlers);
void outbox_destroy(struct outbox *outbox);

/* Add an event of the agent itself. Takes ownership of `event`, even on failure. Returns
 * the event's sequence number. On failure logs the error and returns 0. */
uint64_t outbox_add_steal(struct outbox *outbox, const struct case_id *id, int rank,
                          json_t *event);

/* Add a worker's event line that event_line_parse has accepted. */
void outbox_add_line(struct outbox *outbox, const struct case_id *id, int rank,
                     const char *line, size_t len);

/* Replaces the rank's earlier progress. */
void outbox_set_progress(struct outbox *outbox, const struct case_id *id, int rank,
                         const char *line, size_t len);

void outbox_drop_progress(struct outbox *outbox, const struct case_id *id, int rank);

bool outbox_has_stored(const struct outbox *outbox); /* unacknowledged events */
bool outbox_has_progress(const struct outbox *outbox);
uint64_t outbox_acked(const struct outbox *outbox);

/* Fill *batch (initialized by outbox_batch_init) with at most max_lines stored events and
 * the waiting progress, which is then removed from the outbox. Returns -1 if the spool
 * cannot be read. */
void outbox_batch_init(struct outbox_batch *batch);
void outbox_batch_release(struct outbox_batch *batch);
int outbox_take_batch(struct outbox *outbox, int64_t max_lines,
                      struct outbox_batch *batch, struct error *err);

/* Record that the server has stored everything up to seq. Errors are those of
 * spool_ack(). */
int outbox_ack(struct outbox *outbox, uint64_t seq, struct error *err);

/* Call when the server refuses event `seq`, the oldest one. A log line with the reason is
 * sent in its place. */
void outbox_replace(struct outbox *outbox, uint64_t seq, const char *why);

/* True if the disk is full, so that events wait in memory. */
bool outbox_is_blocked(const struct outbox *outbox);

/* Forget all events and count from 1 again. */
void outbox_reset(struct outbox *outbox);

#endif
