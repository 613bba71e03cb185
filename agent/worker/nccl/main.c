/* main.c - ringbench-worker-nccl: one rank of a benchmark over GPU memory */
#include "agent/worker/bench/worker.h"
#include "agent/worker/nccl/backend_nccl.h"
#include "agent/worker/nccl/nccl_setting.h"

int main(int argc, char **argv)
{
    const struct backend backend = backend_nccl();

    nccl_setting_log(); /* without it a failure tells less, no more */
    return worker_main(argc, argv, &backend);
}
