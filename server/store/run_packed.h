/* SPDX-License-Identifier: Apache-2.0 */
/* run_packed.h - a run's document for another thread: each of its cases is the text of an
 * object, which is made once and read by many. Other members may be shared, too, and are
 * never changed. */
#ifndef RINGBENCH_SERVER_STORE_RUN_PACKED_H
#define RINGBENCH_SERVER_STORE_RUN_PACKED_H

#include <jansson.h>

#include "common/base/buf.h"

/* The document with its cases as objects. packed: taken; a document whose cases are
 * objects stays as it is. */
json_t *run_unpack(json_t *packed);

/* Append the text of either kind. -1: it would exceed the limit of `out`. */
int run_packed_append(const json_t *doc, struct buf *out);

#endif
