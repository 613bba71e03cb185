/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - the main program of all workers: the contract with the agent */
#ifndef RINGBENCH_WORKER_BENCH_WORKER_H
#define RINGBENCH_WORKER_BENCH_WORKER_H

#include "agent/worker/bench/backend.h"

/* main() of ringbench-worker-BACKEND (docs/development/worker-contract.md). */
int worker_main(int argc, char **argv, const struct backend *backend);

#endif
