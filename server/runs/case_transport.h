/* SPDX-License-Identifier: Apache-2.0 */
/* case_transport.h - collects the transports that a case's ranks reported */
#ifndef RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H
#define RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>

struct live_case;
struct run;

/* Record the contents of a rank's NCCL log. The last report of a process counts. */
void case_transport_take(struct live_case *live, int rank, json_t *log);

/* After a server restart, process some of the logs that arrived before the case's nodes
 * registered again. */
void case_transport_go_on(struct live_case *live);

/* Record the transports in a `ranks` event, for one rank or for all ranks (-1). */
void case_transport_take_each(struct live_case *live, int rank, const json_t *event);

/* Return `transports` (docs/reference/api.md) for the end of the case, as a new object.
 * has_run: true if the case completed, so missing reports deserve a verdict. Returns NULL
 * if there is nothing to report, or if another case already contains this verdict. */
json_t *case_transport_fold(struct live_case *live, bool has_run);

#endif
