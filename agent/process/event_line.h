/* event_line.h - judge one line that a worker wrote to its event pipe */
#ifndef RINGBENCH_AGENT_PROCESS_EVENT_LINE_H
#define RINGBENCH_AGENT_PROCESS_EVENT_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

#define EVENT_LINE_MAX (1024 * 1024)

/* Whether the line is an event of docs/worker-contract.md that can be passed on as it
 * stands: one JSON object, a type that workers have, none of the keys that the agent
 * adds. Returns 0 and says whether it is a progress event, or -1 with the reason. */
int event_line_check(const char *line, size_t len, bool *is_progress, struct error *err);

#endif
