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
    OPERATION_POINT_TO_POINT /* the transfers in `transfers` */
};

#define PREMULS_MAX 16
#define PREMUL_FIRST 1000 /* number of the first pre-multiplied sum */

/* A sum of inputs that are multiplied by their rank's scalar (ncclRedOpCreatePreMulSum).
 */
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
    int device; /* of the thread that created the communicator */
    struct wire *wire;
    atomic_bool is_aborted;
    atomic_int async_result;
    void *memory;     /* GPU memory of the communicator */
    int n_registered; /* registered buffers and windows */
    struct range registered[RANGES_MAX];
    bool is_connected; /* peers are connected for sends and receives */
    long done;         /* operations that began on the stream */
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

/* The communicator's pre-multiplied sum of that number, or NULL. */
const struct premul *premul_of(const struct ncclComm *comm, int op);

/* Run an operation (on the heap) as work of a stream, with the faults of the settings. */
extern const struct emulated_work operation_work;

#endif
