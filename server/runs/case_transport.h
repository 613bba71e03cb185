/* SPDX-License-Identifier: Apache-2.0 */
/* case_transport.h - by which ways the ranks of a case said that they go */
#ifndef RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H
#define RINGBENCH_SERVER_RUNS_CASE_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>

struct live_case;
struct run;

/* What NCCL's log said of a rank; the last that its process told counts. */
void case_transport_take(struct live_case *live, int rank, json_t *log);

/* Some of what was told before its nodes were there, after a restart of the server. */
void case_transport_go_on(struct live_case *live);

/* The same of an event `ranks`: those that it says of a rank, or of all (-1). */
void case_transport_take_each(struct live_case *live, int rank, const json_t *event);

/* `transports` of docs/reference/api.md for the end of the case. has_run: it went through
 * to its end, so that ranks which said nothing are worth a word. A new object, or NULL:
 * there is nothing to say, or another case of the run says already that nothing was
 * heard. */
json_t *case_transport_fold(struct live_case *live, bool has_run);

#endif
