/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - bytes between the processes of an emulated communicator
 *
 * One ring buffer in shared memory for each ordered pair of ranks. The memory is a memfd
 * of the process that made the unique id, reached through its /proc entry, so nothing is
 * left when the processes are gone. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_WIRE_H
#define RINGBENCH_TESTS_NCCL_EMULATION_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wire; /* one process's view of the shared memory */

/* Make shared memory; its name, to be attached under, goes into text. -1 on failure. */
int wire_make(char *text, size_t size);

/* Attach as `rank` of n, and wait for all others: for ever, unless *stop is set. */
struct wire *wire_attach(const char *name, int rank, int n, atomic_bool *stop);
void wire_detach(struct wire *wire);

/* A transfer with a peer. */
struct transfer {
    int peer;
    bool is_send;
    char *data;
    size_t len, done;
};

/* What all know of a rank, in memory that they share. */
struct member {
    atomic_int pid;
    atomic_int sm;                  /* its GPU's compute capability, times 10 */
    atomic_long windows;            /* that it has come to register, now or before */
    _Atomic size_t window_bytes[2]; /* of those, by turns */
};

struct member *wire_members(struct wire *wire);

/* Move all of them to their ends, those with one peer in their order; false when *stop
 * was set before that. */
bool wire_move(struct wire *wire, struct transfer *transfers, size_t n,
               atomic_bool *stop);

#endif
