/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.h - a byte stream to one peer over a transport: shared memory, TCP or UCX
 *
 * send and recv never wait. They return the bytes moved, 0 if none can be moved now, or
 * -1 with errno if the peer is gone. */
#ifndef RINGBENCH_WORKER_GROUP_ENDPOINT_H
#define RINGBENCH_WORKER_GROUP_ENDPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/worker/group/shm_group.h"

struct endpoint;

struct transport {
    const char *name;
    ssize_t (*send)(struct endpoint *endpoint, const void *data, size_t len);
    ssize_t (*recv)(struct endpoint *endpoint, void *data, size_t len);
    /* The devices that carry the bytes: a new, non-empty array of {"via","name",...},
     * `ways` in docs/development/worker-contract.md. NULL: sockets. */
    json_t *(*ways)(const struct endpoint *endpoint);
};

struct endpoint {
    const struct transport *transport; /* NULL: not connected */
    int rank;
    int fd, out_fd;             /* for poll() before recv and before send; or -1 */
    struct shm_queue *out, *in; /* shm only */
    void *own;                  /* UCX only */
};

void endpoint_init_tcp(struct endpoint *endpoint, int rank, int fd);
void endpoint_init_shm(struct endpoint *endpoint, int rank, struct shm_queue *out,
                       struct shm_queue *in);

/* Send small messages immediately (TCP_NODELAY). */
void endpoint_send_at_once(int fd);
/* Probe the connection after 10 s without bytes, and end it after 20 s more without an
 * answer. */
void endpoint_probe_peer(int fd);
/* Limit the send queue of a connection within the machine. */
void endpoint_shorten_queue(int fd);

#endif
