/* event_line.h - judge one line that a worker wrote to its event pipe */
#ifndef RINGBENCH_AGENT_CASE_EVENT_LINE_H
#define RINGBENCH_AGENT_CASE_EVENT_LINE_H

#include <stddef.h>

#include "common/base/error.h"

#define EVENT_LINE_MAX (1024 * 1024)

enum event_line_kind { EVENT_LINE_PROGRESS, EVENT_LINE_DONE, EVENT_LINE_OTHER };

/* Whether the line is an event of docs/worker-contract.md that can be passed on as it
 * stands: one JSON object, a type that workers have, none of the keys that the agent
 * adds. Returns 0 and says which kind it is, or -1 with the reason. */
int event_line_check(const char *line, size_t len, enum event_line_kind *kind,
                     struct error *err);

#endif
