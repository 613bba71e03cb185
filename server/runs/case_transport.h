/* case_transport.h - by which ways the ranks of a case said that they go */
#ifndef RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H
#define RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H

#include <jansson.h>

struct live_case;

/* What NCCL's log said of a rank; the last that its process told counts. */
void case_transport_take(struct live_case *live, int rank, json_t *log);

/* `transports` of docs/api.md for the end of the case. A new object, or NULL: its ranks
 * said nothing. */
json_t *case_transport_fold(const struct live_case *live);

#endif
