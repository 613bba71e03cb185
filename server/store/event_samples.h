/* SPDX-License-Identifier: Apache-2.0 */
/* event_samples.h - stores a result's arrays separately from its event. These arrays are
 * the fields marked KEPT_APART in row_fields.h. Few clients request them, so streams omit
 * them by default. */
#ifndef RINGBENCH_SERVER_STORE_EVENT_SAMPLES_H
#define RINGBENCH_SERVER_STORE_EVENT_SAMPLES_H

#include <jansson.h>

#include "common/base/buf.h"
#include "server/store/store_event.h"

/* Return the body without its KEPT_APART arrays, as a new reference; body is borrowed.
 * The arrays become the event's samples, which the caller frees. */
json_t *event_samples_pack(const json_t *body, struct store_event *event);

/* Append the samples as members of an object that already contains other members. A comma
 * precedes each sample. Returns -1 if `out` is full. */
int event_samples_append(const struct store_event *event, struct buf *out);

/* Set the samples as members of the body. Returns -1 if the samples are damaged. */
int event_samples_unpack(const struct store_event *event, json_t *body);

#endif
