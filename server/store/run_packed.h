/* SPDX-License-Identifier: Apache-2.0 */
/* run_packed.h - prepares a run's document for use on another thread. In a packed
 * document each case is a JSON text, which is generated once and read many times. Threads
 * may also share the other members; no shared member is ever modified. */
#ifndef RINGBENCH_SERVER_STORE_RUN_PACKED_H
#define RINGBENCH_SERVER_STORE_RUN_PACKED_H

#include <jansson.h>

#include "common/base/buf.h"

/* Return the document with its cases as objects. Takes ownership of packed, whose cases
 * may already be objects. */
json_t *run_unpack(json_t *packed);

/* Append the JSON of a packed or unpacked document. Returns -1 if it would exceed the
 * limit of `out`. */
int run_packed_append(const json_t *doc, struct buf *out);

#endif
