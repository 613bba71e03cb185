/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.h - a byte stream to one peer, whatever carries it
 *
 * send and recv move what they can without waiting: the number of bytes, 0 when nothing
 * can be moved now, -1 with errno when the peer is gone. A further transport (RDMA, say)
 * is a further table. */
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
    /* What carries the bytes, as far as it is known: a new array of one
     * {"via","name",...} or more, as docs/development/worker-contract.md has `ways`.
     * NULL: sockets.
     */
    json_t *(*ways)(const struct endpoint *endpoint);
};

struct endpoint {
    const struct transport *transport; /* NULL: not connected */
    int rank;
    int fd, out_fd;             /* to wait on with poll(), to read and to write; or -1 */
    struct shm_queue *out, *in; /* shm only */
    void *own;                  /* a further transport's */
};

void endpoint_init_tcp(struct endpoint *endpoint, int rank, int fd);
void endpoint_init_shm(struct endpoint *endpoint, int rank, struct shm_queue *out,
                       struct shm_queue *in);

/* A socket: send small messages at once. */
void endpoint_send_at_once(int fd);
/* A socket: probe a connection that is idle for 10 s, and end it when there was no answer
 * for 20 s more. */
void endpoint_probe_peer(int fd);
/* Of a connection that does not leave the machine: send at most so much ahead. */
void endpoint_shorten_queue(int fd);

#endif
