/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-worker-host: one rank of a benchmark over host memory */
#include "agent/worker/bench/worker.h"
#include "agent/worker/host/host_comm.h"

int main(int argc, char **argv)
{
    return worker_main(argc, argv, &backend_host);
}
