/* nccl_init.h - forming the NCCL communicator, on a thread of its own
 *
 * ncclCommInitRank waits for the other ranks without any limit and cannot be called off.
 * So another thread calls it, while the worker's own watches the peers, the stop flag and
 * the clock. A thread that is stuck is given up with the process. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_INIT_H
#define RINGBENCH_WORKER_NCCL_NCCL_INIT_H

#include <stdint.h>

#include "agent/worker/nccl/nccl_comm.h"

/* Form comm->comm from the ids. On failure comm->init may stay, stuck: then the process
 * can only be ended. */
int nccl_init_run(struct backend_comm *comm, const struct nccl_id *ids, int n_ids,
                  int64_t timeout_ms, struct error *err);

/* Call ncclCommAbort (or ncclCommDestroy) and wait for it, at most so long; -1 if it has
 * not returned by then. */
int nccl_end(struct backend_comm *comm, bool is_abort, int64_t timeout_ms);

#endif
