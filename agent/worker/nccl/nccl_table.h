/* nccl_table.h - which algorithm NCCL 2.18 and 2.19 will take for a call, by what they
 * log when a communicator is formed
 *
 * They tell of no call what they took. Rank 0 logs the latencies and bandwidths that they
 * choose by (subsystem TUNING), all ranks the channels and thresholds (INIT). Made by
 * reading NCCL 2.18.1 to 2.19.4: src/graph/tuning.cc (ncclTopoTuneModel,
 * ncclTopoGetAlgoTime), src/enqueue.cc (getAlgoInfo), src/misc/tuner.cc. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_TABLE_H
#define RINGBENCH_WORKER_NCCL_NCCL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/bench/choice.h"
#include "common/spec/collective.h"

#define NCCL_TABLE_FUNCTIONS 5
#define NCCL_TABLE_ALGORITHMS 6
#define NCCL_TABLE_PROTOCOLS 3

/* Zeroed: nothing was read. Algorithms and protocols in NCCL's order (nccl_algorithm). */
struct nccl_table {
    struct {
        float latency_us, bandwidth_gbs; /* 0: it is not to be had */
    } costs[NCCL_TABLE_FUNCTIONS][NCCL_TABLE_ALGORITHMS][NCCL_TABLE_PROTOCOLS];
    int threads[NCCL_TABLE_ALGORITHMS][NCCL_TABLE_PROTOCOLS];
    int thresholds[NCCL_TABLE_ALGORITHMS][NCCL_TABLE_PROTOCOLS]; /* bytes per thread */
    int channels, nvls_channels;
    int columns[3]; /* algorithms of the block that is being read, plus 1; 0: another */
    bool has_tuner; /* a plugin decides */
};

/* What the choice depends on besides. */
struct nccl_table_call {
    enum collective_kind kind;
    enum dtype dtype;
    int redop;    /* enum redop, or -1 */
    size_t count; /* as the call has it */
    int ranks, hosts;
    int capability; /* the oldest GPU's, times 10 */
};

/* One line of the log; whether it was one of these. */
bool nccl_table_read(struct nccl_table *table, const char *line);

/* By "table"; out stays as it is where more than one choice is possible: the log rounds
 * to 0.1 us and 0.1 GB/s, and does not tell what a CollNet plugin can reduce. */
void nccl_table_predict(const struct nccl_table *table,
                        const struct nccl_table_call *call, struct choice *out);

#endif
