/* link.c - a byte stream to one peer, whatever carries it */
#include "agent/worker/group/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t tcp_send(struct link *link, const void *data, size_t len)
{
    ssize_t n = send(link->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n;
}

static ssize_t tcp_recv(struct link *link, void *data, size_t len)
{
    ssize_t n = recv(link->fd, data, len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n == 0) {
        errno = ECONNRESET;
        return -1;
    }
    return n;
}

static void tcp_close(struct link *link)
{
    close(link->fd);
    link->fd = -1;
}

static const struct transport transport_tcp = {"tcp", tcp_send, tcp_recv, tcp_close};

static ssize_t shm_send(struct link *link, const void *data, size_t len)
{
    struct shm_queue *queue = link->out;
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

static ssize_t shm_recv(struct link *link, void *data, size_t len)
{
    struct shm_queue *queue = link->in;
    uint64_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    size_t held = (size_t)(tail - head), at = (size_t)(head % SHM_QUEUE_BYTES);

    len = len < held ? len : held;
    len = len < SHM_QUEUE_BYTES - at ? len : SHM_QUEUE_BYTES - at;
    memcpy(data, queue->data + at, len);
    atomic_store_explicit(&queue->head, head + len, memory_order_release);
    return (ssize_t)len;
}

static void shm_close(struct link *link)
{
    link->out = link->in = NULL;
}

static const struct transport transport_shm = {"shm", shm_send, shm_recv, shm_close};

void link_init_tcp(struct link *link, int rank, int fd)
{
    memset(link, 0, sizeof(*link));
    link->transport = &transport_tcp;
    link->rank = rank;
    link->fd = fd;
}

void link_init_shm(struct link *link, int rank, struct shm_queue *out,
                   struct shm_queue *in)
{
    memset(link, 0, sizeof(*link));
    link->transport = &transport_shm;
    link->rank = rank;
    link->fd = -1;
    link->out = out;
    link->in = in;
}

void link_close(struct link *link)
{
    if (link->transport) {
        link->transport->close(link);
        link->transport = NULL;
    }
}

void link_tune_socket(int fd)
{
    int one = 1, count = 2;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}
