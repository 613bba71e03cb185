/* SPDX-License-Identifier: Apache-2.0 */
/* transport_text.h - writes the transports that a case used as comment lines */
#ifndef RINGBENCH_SERVER_RENDER_TRANSPORT_TEXT_H
#define RINGBENCH_SERVER_RENDER_TRANSPORT_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append a line for each path and each finding of `transports` (docs/reference/api.md).
 * Append nothing if `transports` is NULL. */
void transport_text(const json_t *transports, struct buf *out);

#endif
