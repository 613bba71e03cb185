/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.h - stripe data over several sockets to one peer on another host
 *
 * Data is cut into chunks, which are assigned to the sockets round-robin. Both ends know
 * the order, so chunks need no header. Only the communicator's thread uses these sockets.
 */
#ifndef RINGBENCH_WORKER_HOST_SOCKETS_H
#define RINGBENCH_WORKER_HOST_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/worker/group/endpoint.h"
#include "common/spec/run_spec.h"

#define SOCKETS_CHUNK_BYTES 131072

struct stripe {
    bool is_send;
    uint64_t at; /* bytes moved so far */
    uint64_t bytes[HOST_SOCKETS_MAX];
};

struct sockets_peer {
    int count;
    struct endpoint lanes[HOST_SOCKETS_MAX];
    struct stripe out, in;
};

/* Make an endpoint over `count` connections (borrowed). */
void sockets_init(struct sockets_peer *peer, struct endpoint *endpoint, int rank,
                  const int *fds, int count);
/* Bytes moved so far through socket `at`, to or from the peer. */
uint64_t sockets_bytes(const struct sockets_peer *peer, int at, bool is_send);

/* One socket per 25 Gb/s, at most HOST_SOCKETS_MAX. With unknown speed (0): one. */
int sockets_for_speed(long mbits);
/* sockets_for_speed() for the speed of a network interface. */
int sockets_for_interface(const char *name);

#endif
