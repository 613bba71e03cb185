/* SPDX-License-Identifier: Apache-2.0 */
/* first_failure.h - agree on the rank that failed first
 *
 * When one rank dies, the other ranks exit, and each exit looks like another loss to
 * slower ranks. The first rank that fails therefore writes its error to the store before
 * it exits. A rank that fails later, because a peer exited, reports the stored rank
 * instead. A rank that cannot reach a peer (ERROR_UNREACHABLE) reports that peer whatever
 * the store contains, because the unreachable peer may itself have written the record. */
#ifndef RINGBENCH_WORKER_BENCH_FIRST_FAILURE_H
#define RINGBENCH_WORKER_BENCH_FIRST_FAILURE_H

#include <stdbool.h>
#include <stdatomic.h>

#include "agent/worker/group/rendezvous_client.h"
#include "common/base/error.h"

struct first_failure {
    int rank;          /* the rank that failed */
    bool is_cancelled; /* the failed rank exited because a stop was requested */
    struct error error;
};

/* Write *failure to the store. If another rank was first, replace *failure by its record.
 * Takes at most 0.5 s. Without a store *failure is not changed. */
void first_failure_settle(struct rendezvous_client *store, struct first_failure *failure);

#endif
