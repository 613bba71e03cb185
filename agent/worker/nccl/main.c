/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-worker-nccl: one rank of a benchmark over GPU memory */
#include <stdio.h>

#include "agent/worker/bench/worker.h"
#include "agent/worker/nccl/backend_nccl.h"

int main(int argc, char **argv)
{
    /* NCCL writes its log to stdout and never flushes it (src/debug.cc), and stdout is a
     * pipe: without this the agent reads nothing before 4 KiB, and nothing at all of a
     * killed rank. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    return worker_main(argc, argv, &backend_nccl);
}
