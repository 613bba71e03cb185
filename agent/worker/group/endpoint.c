/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint.c - a byte stream to one peer over a transport */
#include "agent/worker/group/endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define QUEUE_BYTES 131072
#define NEAR_US 1000
/* Probes are rare because they use CPU time during timed calls. A network outage of 15 s
 * must not end a case: an idle connection ends after four unanswered probes, 20 to 30 s
 * after the last answer. */
#define KEEPALIVE_IDLE_S 10
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 4

static ssize_t tcp_send(struct endpoint *endpoint, const void *data, size_t len)
{
    ssize_t n = send(endpoint->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n;
}

static ssize_t tcp_recv(struct endpoint *endpoint, void *data, size_t len)
{
    ssize_t n = recv(endpoint->fd, data, len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n == 0) {
        errno = ECONNRESET;
        return -1;
    }
    return n;
}

static const struct transport transport_tcp = {"tcp", tcp_send, tcp_recv, NULL};

static ssize_t shm_send(struct endpoint *endpoint, const void *data, size_t len)
{
    struct shm_queue *queue = endpoint->out;
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    size_t space = SHM_QUEUE_BYTES - (size_t)(tail - head);
    size_t at = (size_t)(tail % SHM_QUEUE_BYTES);

    len = len < space ? len : space;
    len = len < SHM_QUEUE_BYTES - at ? len : SHM_QUEUE_BYTES - at;
    memcpy(queue->data + at, data, len);
    atomic_store_explicit(&queue->tail, tail + len, memory_order_release);
    return (ssize_t)len;
}

static ssize_t shm_recv(struct endpoint *endpoint, void *data, size_t len)
{
    struct shm_queue *queue = endpoint->in;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    size_t held = (size_t)(tail - head), at = (size_t)(head % SHM_QUEUE_BYTES);

    len = len < held ? len : held;
    len = len < SHM_QUEUE_BYTES - at ? len : SHM_QUEUE_BYTES - at;
    memcpy(data, queue->data + at, len);
    atomic_store_explicit(&queue->head, head + len, memory_order_release);
    return (ssize_t)len;
}

static json_t *shm_ways(const struct endpoint *endpoint)
{
    (void)endpoint;
    return json_pack("[{s:s}]", "via", "shm");
}

static const struct transport transport_shm = {"shm", shm_send, shm_recv, shm_ways};

void endpoint_init_tcp(struct endpoint *endpoint, int rank, int fd)
{
    memset(endpoint, 0, sizeof(*endpoint));
    endpoint->transport = &transport_tcp;
    endpoint->rank = rank;
    endpoint->fd = endpoint->out_fd = fd;
}

void endpoint_init_shm(struct endpoint *endpoint, int rank, struct shm_queue *out,
                       struct shm_queue *in)
{
    memset(endpoint, 0, sizeof(*endpoint));
    endpoint->transport = &transport_shm;
    endpoint->rank = rank;
    endpoint->fd = endpoint->out_fd = -1;
    endpoint->out = out;
    endpoint->in = in;
}

/* Within a machine a long send queue is slow. Queued data drops out of the CPU caches.
 * The core that handles an acknowledgement also sends queued data. On virtual Ethernet
 * that data overtakes data from the sender's core, and TCP assumes a loss. On a real or
 * emulated link (longer round trips) the kernel's own queue size is best. */
void endpoint_shorten_queue(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    int bytes = QUEUE_BYTES;

    if (!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) && info.tcpi_rtt < NEAR_US)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

void endpoint_send_at_once(int fd)
{
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

void endpoint_probe_peer(int fd)
{
    int one = 1, idle_s = KEEPALIVE_IDLE_S, interval_s = KEEPALIVE_INTERVAL_S;
    int count = KEEPALIVE_PROBES;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}
