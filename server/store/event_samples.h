/* SPDX-License-Identifier: Apache-2.0 */
/* event_samples.h - the arrays of a result that few ask for, kept beside its event and in
 * no stream: those that are KEPT_APART (row_fields.h) */
#ifndef RINGBENCH_SERVER_STORE_EVENT_SAMPLES_H
#define RINGBENCH_SERVER_STORE_EVENT_SAMPLES_H

#include <jansson.h>

#include "common/base/buf.h"
#include "server/store/store_event.h"

/* The body (borrowed) without these arrays, which become the event's samples, to be
 * freed. A new reference. */
json_t *event_samples_pack(const json_t *body, struct store_event *event);

/* Append them as members of an object that has others, each with a comma before it. -1
 * when `out` is full. */
int event_samples_append(const struct store_event *event, struct buf *out);

/* Set them in the body. -1 when they are damaged. */
int event_samples_unpack(const struct store_event *event, json_t *body);

#endif
