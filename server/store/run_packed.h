/* SPDX-License-Identifier: Apache-2.0 */
/* run_packed.h - a run's document for another thread: each of its cases is JSON text,
 * made once and read many times. Other members may be shared too; none is ever
 * modified. */
#ifndef RINGBENCH_SERVER_STORE_RUN_PACKED_H
#define RINGBENCH_SERVER_STORE_RUN_PACKED_H

#include <jansson.h>

#include "common/base/buf.h"

/* The document with its cases as objects. packed: taken; its cases may be objects
 * already. */
json_t *run_unpack(json_t *packed);

/* Append the JSON of a packed or unpacked document. -1 if it would exceed the limit of
 * `out`. */
int run_packed_append(const json_t *doc, struct buf *out);

#endif
