/* SPDX-License-Identifier: Apache-2.0 */
/* store_event.h - represents stored events and pages of events */
#ifndef RINGBENCH_SERVER_STORE_STORE_EVENT_H
#define RINGBENCH_SERVER_STORE_STORE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

struct store_event {
    int64_t id;
    int64_t time_ms;
    const char *type;
    const char *body; /* text of a JSON object, without id, time and type */
    size_t body_len;
    const char *samples; /* a result's arrays as JSON (event_samples.h); NULL: none */
    size_t samples_len;
};

/* Append the event as clients see it: "id", "time" and "type", followed by the body's own
 * members. Returns -1 when `out` is full. */
int store_event_append(const struct store_event *event, struct buf *out);

/* A page of events in the order of their ids. Owns their texts. */
struct store_events {
    struct store_event *list;
    size_t n, capacity;
    size_t bytes; /* total bytes of the events' texts */
    int64_t next; /* for rows: the parameter `after` of the next page; 0: there is none */
};

struct store_events *store_events_create(void);
void store_events_destroy(struct store_events *events); /* NULL is fine */

/* Append a copy of an event. */
void store_events_add(struct store_events *events, const struct store_event *event);

#endif
