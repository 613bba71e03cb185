/* backend_nccl.h - collectives over GPU memory by NCCL */
#ifndef RINGBENCH_WORKER_NCCL_BACKEND_NCCL_H
#define RINGBENCH_WORKER_NCCL_BACKEND_NCCL_H

#include "agent/worker/bench/backend.h"

/* The backend's table, according to what the libraries of this machine can do.
 * version: NCCL's, 0 where it can't be used. */
struct backend backend_nccl(int *version);

#endif
