/* SPDX-License-Identifier: Apache-2.0 */
/* event_line.h - judge one line that a worker wrote to its event pipe */
#ifndef RINGBENCH_AGENT_CASE_EVENT_LINE_H
#define RINGBENCH_AGENT_CASE_EVENT_LINE_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"

#define EVENT_LINE_MAX (1024 * 1024)

/* Read a line as an event of docs/development/worker-contract.md that can be passed on as
 * it stands: one JSON object, a type that workers have, none of the keys that the agent
 * adds. A new reference, or NULL with the reason. */
json_t *event_line_parse(const char *line, size_t len, struct error *err);

#endif
