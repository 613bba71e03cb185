/* main.c - ringbench-worker-nccl: one rank of a benchmark over GPU memory */
#include <stdio.h>

#include "agent/worker/bench/worker.h"
#include "agent/worker/nccl/backend_nccl.h"
#include "agent/worker/nccl/nccl_setting.h"

int main(int argc, char **argv)
{
    int version;
    struct backend backend;

    /* NCCL writes its log to stdout and never flushes it (src/debug.cc), and stdout is a
     * pipe: without this the agent reads nothing before 4 KiB, and nothing at all of a
     * killed rank. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    backend = backend_nccl(&version);
    /* Failures need NCCL's warnings, and rows the algorithm that NCCL chose. */
    nccl_setting_log(version);
    nccl_setting_offer("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN");
    return worker_main(argc, argv, &backend);
}
