/* operation.h - one operation of the emulated NCCL on its stream */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_OPERATION_H
#define RINGBENCH_TESTS_NCCL_EMULATION_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/nccl/nccl_abi.h"
#include "tests/nccl_emulation/wire.h"

enum operation_kind {
    OPERATION_ALL_REDUCE,
    OPERATION_ALL_GATHER,
    OPERATION_REDUCE_SCATTER,
    OPERATION_BROADCAST,
    OPERATION_REDUCE,
    OPERATION_ALLTOALL,
    OPERATION_GATHER,
    OPERATION_SCATTER,
    OPERATION_POINT_TO_POINT /* the transfers that it was given */
};

struct ncclComm {
    int rank, n;
    struct wire *wire;
    atomic_bool is_aborted;
    atomic_int async_result;
    int n_registered; /* buffers */
    long done;        /* operations begun on the stream */
};

struct operation {
    enum operation_kind kind;
    struct ncclComm *comm;
    const char *send;
    char *recv;
    size_t count;
    int type, op, root;
    struct transfer *transfers; /* owned */
    size_t n_transfers;
};

/* Do it, with all that the settings make go wrong; takes *arg's transfers. */
void operation_run(void *arg);

#endif
