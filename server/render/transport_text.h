/* transport_text.h - by which ways a case's bytes went, as comment lines */
#ifndef RINGBENCH_SERVER_RENDER_TRANSPORT_TEXT_H
#define RINGBENCH_SERVER_RENDER_TRANSPORT_TEXT_H

#include <jansson.h>

#include "common/base/buf.h"

/* `transports` of docs/reference/api.md: a line for each way, and for each finding. NULL
 * is fine.
 */
void transport_text(const json_t *transports, struct buf *out);

#endif
