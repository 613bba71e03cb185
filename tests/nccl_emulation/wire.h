/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - transfers between the processes of an emulated communicator
 *
 * There is a ring buffer in shared memory for each ordered pair of ranks. The memory is a
 * memfd of the process that created the unique id. Others open it through /proc, so
 * nothing remains when the processes end. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_WIRE_H
#define RINGBENCH_TESTS_NCCL_EMULATION_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct wire; /* one process's view of the shared memory */

/* Create shared memory and write its name, for wire_attach, into text. -1 on failure. */
int wire_make(char *text, size_t size);

/* Attach as `rank` of n, and wait for all other ranks until *stop is set. */
struct wire *wire_attach(const char *name, int rank, int n, atomic_bool *stop);
void wire_detach(struct wire *wire);

/* A transfer with a peer. */
struct transfer {
    int peer;
    bool is_send;
    char *data;
    size_t len, done;
};

/* Facts about a rank, in shared memory. */
struct member {
    atomic_int pid;
    atomic_int sm;                  /* compute capability of its GPU, times 10 */
    atomic_long windows;            /* registrations that it has started */
    _Atomic size_t window_bytes[2]; /* sizes of the last two windows, alternating */
};

struct member *wire_members(struct wire *wire);

/* Complete all transfers. Those with the same peer run in order. False if *stop was set
 * before the end. */
bool wire_move(struct wire *wire, struct transfer *transfers, size_t n,
               atomic_bool *stop);

#endif
