/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mpi.c - measures an MPI all-reduce as bench_host measures ringbench's (built by
 * run_host_vs_mpi with mpicc) */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "loop.h"

static double time_size(const struct loop_options *options, char *send, char *recv,
                        size_t size, int ranks)
{
    int iters = loop_iters(options, size), count = (int)(size / sizeof(float));
    double mine, sum = 0;

    for (int i = -options->warmup; i < 0; i++)
        MPI_Allreduce(send, recv, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = loop_now_us();
    for (int i = 0; i < iters; i++) {
        size_t at = loop_offset(options, size, i);
        MPI_Allreduce(send + at, recv + at, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    mine = (loop_now_us() - start) / iters;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / ranks;
}

int main(int argc, char **argv)
{
    struct loop_options options = loop_options_read();
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *send = aligned_alloc(4096, options.max),
         *recv = aligned_alloc(4096, options.max);
    for (size_t i = 0; i < options.max / sizeof(float); i++)
        ((float *)send)[i] = (float)(rank + 1);
    memset(recv, 0, options.max);
    int settle = options.max < 4096 ? (int)(options.max / sizeof(float)) : 1024;
    for (int i = 0; i < options.settle; i++)
        MPI_Allreduce(send, recv, settle, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t size = options.min; size <= options.max; size *= 2) {
        double us = time_size(&options, send, recv, size, ranks);
        size_t wrong = loop_wrong((float *)recv, size / sizeof(float), ranks);
        if (wrong) {
            fprintf(stderr, "rank %d: %zu wrong at %zu\n", rank, wrong, size);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (rank == 0) {
            printf("%zu %.4f\n", size, us);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
