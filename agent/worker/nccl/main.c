/* main.c - ringbench-worker-nccl: one rank of a benchmark over GPU memory */
#include "agent/worker/bench/worker.h"
#include "agent/worker/nccl/backend_nccl.h"
#include "agent/worker/nccl/nccl_setting.h"

int main(int argc, char **argv)
{
    int version;
    const struct backend backend = backend_nccl(&version);

    /* Without them a failure tells less, and rows do not say how they were done. */
    nccl_setting_log(version);
    nccl_setting_offer("NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN");
    return worker_main(argc, argv, &backend);
}
