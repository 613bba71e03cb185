/* SPDX-License-Identifier: Apache-2.0 */
/* event_line.h - parses and checks a line that a worker wrote to its event pipe */
#ifndef RINGBENCH_AGENT_CASE_EVENT_LINE_H
#define RINGBENCH_AGENT_CASE_EVENT_LINE_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"

#define EVENT_LINE_MAX (1024 * 1024)

/* Parse an event of docs/development/worker-contract.md: one JSON object with a type that
 * workers may send and without the keys that the agent adds. Such a line can be forwarded
 * unchanged. Returns a new reference, or NULL with the reason. */
json_t *event_line_parse(const char *line, size_t len, struct error *err);

#endif
