/* SPDX-License-Identifier: Apache-2.0 */
/* operation.h - one operation of the emulated NCCL on its stream */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_OPERATION_H
#define RINGBENCH_TESTS_NCCL_EMULATION_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/nccl/nccl_abi.h"
#include "tests/nccl_emulation/stream.h"
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

#define PREMULS_MAX 16
#define PREMUL_FIRST 1000 /* the number of the first one */

/* A sum of inputs that are multiplied beforehand, each by its rank's scalar. */
struct premul {
    bool is_used;
    int type;
    unsigned char scalar[8];
};

#define RANGES_MAX 8

struct range {
    const char *begin; /* NULL: none */
    size_t bytes;
};

struct ncclComm {
    int rank, n;
    int device; /* that of the thread that formed it */
    struct wire *wire;
    atomic_bool is_aborted;
    atomic_int async_result;
    void *memory;     /* that it has taken of the GPU's */
    int n_registered; /* buffers and windows */
    struct range registered[RANGES_MAX];
    bool is_connected; /* for sends and receives */
    long done;         /* operations begun on the stream */
    struct premul premuls[PREMULS_MAX];
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

/* The communicator's operation of that number, or NULL. */
const struct premul *premul_of(const struct ncclComm *comm, int op);

/* An operation on the heap as work of a stream: what is done has all that the settings
 * make go wrong. */
extern const struct emulated_work operation_work;

#endif
