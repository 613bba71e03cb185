/* blame.h - whom a failed case is to be blamed on
 *
 * When one rank dies the others leave, and each one's leaving looks like a loss to those
 * that are slower to notice. So the first rank that fails writes into the store what it
 * saw, before it leaves; whoever fails later since another left finds that and reports
 * the same rank. A peer that fell silent did not leave: whoever sees that reports it,
 * whatever the store says, which may be the word of that very peer. */
#ifndef RINGBENCH_WORKER_BENCH_BLAME_H
#define RINGBENCH_WORKER_BENCH_BLAME_H

#include <stdbool.h>
#include <stdatomic.h>

#include "agent/worker/group/store_client.h"
#include "common/base/error.h"

struct blame {
    int rank;          /* to blame */
    bool is_cancelled; /* it was told to stop */
    struct error error;
};

/* Tell the store of *blame unless another rank was first; then *blame becomes the
 * other's. Takes half a second at most; without a store *blame stands. */
void blame_settle(struct store_client *store, struct blame *blame);

#endif
