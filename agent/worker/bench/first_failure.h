/* SPDX-License-Identifier: Apache-2.0 */
/* first_failure.h - which of the ranks that fail was the first
 *
 * When one rank dies the others leave, and each one's leaving looks like a loss to those
 * that are slower to notice. So the first rank that fails writes into the store what it
 * saw, before it leaves; whoever fails later since another left finds that and reports
 * the same rank. A peer that fell silent did not leave: whoever sees that reports it,
 * whatever the store says, which may be the word of that very peer. */
#ifndef RINGBENCH_WORKER_BENCH_FIRST_FAILURE_H
#define RINGBENCH_WORKER_BENCH_FIRST_FAILURE_H

#include <stdbool.h>
#include <stdatomic.h>

#include "agent/worker/group/rendezvous_client.h"
#include "common/base/error.h"

struct first_failure {
    int rank;          /* whose failure it is */
    bool is_cancelled; /* it was told to stop */
    struct error error;
};

/* Tell the store of *failure unless another rank was first; then *failure becomes the
 * other's. Takes half a second at most; without a store *failure stands. */
void first_failure_settle(struct rendezvous_client *store, struct first_failure *failure);

#endif
