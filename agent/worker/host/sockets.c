/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.c - stripe data over several sockets to one peer */
#include "agent/worker/host/sockets.h"

#include <stdio.h>
#include <string.h>

#define MBITS_PER_SOCKET 25000

/* ---- Transfers ---- */

static int lane_of(const struct sockets_peer *peer, uint64_t at)
{
    return (int)(at / SOCKETS_CHUNK_BYTES % (uint64_t)peer->count);
}

static size_t to_chunk_end(uint64_t at, size_t len)
{
    size_t left = SOCKETS_CHUNK_BYTES - (size_t)(at % SOCKETS_CHUNK_BYTES);

    return len < left ? len : left;
}

/* Move bytes without waiting. */
static ssize_t move(struct sockets_peer *peer, struct stripe *stripe, char *data,
                    size_t len)
{
    size_t done = 0, part, n = 0;

    do {
        int at = lane_of(peer, stripe->at);
        struct endpoint *lane = &peer->lanes[at];
        const struct transport *transport = lane->transport;
        part = to_chunk_end(stripe->at, len - done);
        ssize_t moved = stripe->is_send ? transport->send(lane, data + done, part)
                                        : transport->recv(lane, data + done, part);
        if (moved < 0)
            return -1;
        n = (size_t)moved;
        stripe->at += n;
        stripe->bytes[at] += n;
        done += n;
    } while (done < len && n == part);
    return (ssize_t)done;
}

/* For poll(). */
static int fd_of(const struct sockets_peer *peer, const struct stripe *stripe)
{
    return peer->lanes[lane_of(peer, stripe->at)].fd;
}

static ssize_t sockets_send(struct endpoint *endpoint, const void *data, size_t len)
{
    struct sockets_peer *peer = endpoint->own;
    ssize_t n = move(peer, &peer->out, (char *)(uintptr_t)data, len);

    endpoint->out_fd = fd_of(peer, &peer->out);
    return n;
}

static ssize_t sockets_recv(struct endpoint *endpoint, void *data, size_t len)
{
    struct sockets_peer *peer = endpoint->own;
    ssize_t n = move(peer, &peer->in, data, len);

    endpoint->fd = fd_of(peer, &peer->in);
    return n;
}

static const struct transport transport_sockets = {"tcp", sockets_send, sockets_recv,
                                                   NULL};

void sockets_init(struct sockets_peer *peer, struct endpoint *endpoint, int rank,
                  const int *fds, int count)
{
    memset(peer, 0, sizeof(*peer));
    peer->count = count;
    peer->out.is_send = true;
    for (int i = 0; i < count; i++)
        endpoint_init_tcp(&peer->lanes[i], rank, fds[i]);
    *endpoint = (struct endpoint){.transport = &transport_sockets,
                                  .rank = rank,
                                  .fd = fds[0],
                                  .out_fd = fds[0],
                                  .own = peer};
}

uint64_t sockets_bytes(const struct sockets_peer *peer, int at, bool is_send)
{
    return is_send ? peer->out.bytes[at] : peer->in.bytes[at];
}

/* ---- Number of sockets ---- */

int sockets_for_speed(long mbits)
{
    long n = mbits / MBITS_PER_SOCKET;

    return n < 1 ? 1 : n < HOST_SOCKETS_MAX ? (int)n : HOST_SOCKETS_MAX;
}

int sockets_for_interface(const char *name)
{
    char path[128];
    long mbits = 0;

    snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
    FILE *file = name[0] ? fopen(path, "re") : NULL;
    if (file && fscanf(file, "%ld", &mbits) != 1)
        mbits = 0;
    if (file)
        fclose(file);
    return sockets_for_speed(mbits);
}
