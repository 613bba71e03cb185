/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-worker-sim: one rank of a simulated benchmark */
#include <stdio.h>
#include <string.h>

#include "agent/worker/bench/worker.h"
#include "agent/worker/sim/sim_params.h"
#include "agent/worker/sim/sim_comm.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list-parameters") == 0) {
        sim_params_print(stdout);
        return fflush(stdout) ? 1 : 0;
    }
    return worker_main(argc, argv, &backend_sim);
}
