/* SPDX-License-Identifier: Apache-2.0 */
/* comms.h - a process's communicators and the log lines that belong to them */
#ifndef RINGBENCH_COMMON_NCCLOG_COMMS_H
#define RINGBENCH_COMMON_NCCLOG_COMMS_H

#include "common/ncclog/ncclog.h"

/* Select the communicator with this pointer and `name` ("": not reported); the next lines
 * belong to it. Return NULL if it exceeds the limit or has invalid numbers. */
struct ncclog_comm *ncclog_turn_to(struct ncclog *log, const char *id, const char *name,
                                   long rank, long n);

/* Return the selected communicator, an unnamed new one if there is none yet; NULL as
 * above. */
struct ncclog_comm *ncclog_now(struct ncclog *log);

/* Return the last communicator with this pointer, or NULL. */
const struct ncclog_comm *ncclog_comm_at(const struct ncclog *log, const char *id);

/* Count a link between two ranks, select its communicator and return it. own: this
 * process's rank; peer: -1 for a network's own link. The line does not name a
 * communicator. Candidates have `own` as their rank; those are preferred where network
 * peers are on other nodes and other peers on the same node. Then the last selected wins,
 * then the largest. NULL: none fits. */
struct ncclog_comm *ncclog_comm_of_link(struct ncclog *log, long own, long peer,
                                        bool is_net);

void ncclog_release_comms(struct ncclog *log);

#endif
