/* SPDX-License-Identifier: Apache-2.0 */
/* comms.h - the communicators of a process, and whose lines are whose */
#ifndef RINGBENCH_COMMON_NCCLOG_COMMS_H
#define RINGBENCH_COMMON_NCCLOG_COMMS_H

#include "common/ncclog/ncclog.h"

/* A communicator speaks, with its pointer and `name` ("": it does not say): lines after
 * this are its. NULL: it is one of those beyond the limit, or of no valid numbers.
 */
struct ncclog_comm *ncclog_turn_to(struct ncclog *log, const char *id, const char *name,
                                   long rank, long n);

/* Whose lines come now, one without a name if none has spoken; NULL as above. */
struct ncclog_comm *ncclog_now(struct ncclog *log);

/* The last that had this pointer, or NULL. */
const struct ncclog_comm *ncclog_comm_at(const struct ncclog *log, const char *id);

/* A link between two ranks over the network or not: it is counted, and lines after this
 * are of whose it is. own: the rank of this process; peer: -1 for a network's own.
 *
 * The line does not say whose it is. It fits where its own rank is the communicator's, of
 * those rather where ranks over the network are on other nodes and others on the same,
 * then the one that spoke last, then the largest. NULL: it fits none. */
struct ncclog_comm *ncclog_comm_of_link(struct ncclog *log, long own, long peer,
                                        bool is_net);

void ncclog_release_comms(struct ncclog *log);

#endif
