/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-worker-nccl: one rank of a benchmark over GPU memory */
#include <stdio.h>

#include "agent/worker/bench/worker.h"
#include "agent/worker/nccl/backend_nccl.h"

int main(int argc, char **argv)
{
    /* NCCL writes its log to stdout and never flushes it (src/debug.cc). stdout is a
     * pipe, so without line buffering the log arrives in blocks, and a killed rank's log
     * is lost. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    return worker_main(argc, argv, &backend_nccl);
}
