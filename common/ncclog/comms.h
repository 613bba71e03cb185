/* SPDX-License-Identifier: Apache-2.0 */
/* comms.h - assigns log lines to the communicators of a process */
#ifndef RINGBENCH_COMMON_NCCLOG_COMMS_H
#define RINGBENCH_COMMON_NCCLOG_COMMS_H

#include "common/ncclog/ncclog.h"

/* Select the communicator with this pointer and `name` ("": not reported), to which the
 * next lines belong. Return NULL if there are too many communicators or if the numbers
 * are invalid. */
struct ncclog_comm *ncclog_turn_to(struct ncclog *log, const char *id, const char *name,
                                   long rank, long n);

/* Return the selected communicator, or add an unnamed one if there is none yet. Return
 * NULL if the selected communicator is beyond the limit. */
struct ncclog_comm *ncclog_now(struct ncclog *log);

/* Return the latest communicator with this pointer, or NULL. */
const struct ncclog_comm *ncclog_comm_at(const struct ncclog *log, const char *id);

/* Count a link between two ranks, select its communicator and return it. own: rank of
 * this process; peer: -1 for a link to the network itself. The line does not name a
 * communicator, so this function chooses one that contains `own`. It prefers a
 * communicator whose number of nodes suits the transport, then the selected one, then the
 * largest. Return NULL if none fits. */
struct ncclog_comm *ncclog_comm_of_link(struct ncclog *log, long own, long peer,
                                        bool is_net);

void ncclog_release_comms(struct ncclog *log);

#endif
