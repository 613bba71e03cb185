/* hub.c - a control plane for many ranks: each has one connection, to rank 0
 *
 * An operation: every rank sends a header and its bytes to rank 0, which sends a header
 * and everybody's bytes back when it has them all. So nobody is ever more than one
 * operation ahead, and what rank 0 reads is always of its own turn. */
#include "agent/worker/sim/hub.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/worker/sim/hub_join.h"

#define SLICE_MS 500 /* how late a stop that came before a wait may be noticed */
#define EVENTS_AT_ONCE 64

struct header {
    uint64_t turn, len;
};

/* The bytes of one message: a header, then the rest. */
struct message {
    struct header header;
    char *data;
    size_t len;
};

static int failed(const struct hub *hub, struct error *err)
{
    if (err)
        *err = hub->error;
    return -1;
}

struct hub *hub_create(const struct hub_config *config, struct error *err)
{
    struct hub *hub = calloc(1, sizeof(*hub));
    size_t n = (size_t)config->world_size;
    struct error why = {0};

    if (!hub) {
        error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
        return NULL;
    }
    hub->rank = config->rank;
    hub->world_size = config->world_size;
    hub->stop = config->stop;
    hub->epoll_fd = -1;
    hub->lost = -1;
    hub->peers = calloc(n, sizeof(*hub->peers));
    if (!hub->peers) {
        error_set(&why, ERROR_MEMORY, "connecting ranks: out of memory");
        goto fail;
    }
    for (size_t i = 0; i < n; i++)
        hub->peers[i].fd = -1;
    if (hub_join(hub, config, &why) || hub_barrier(hub, &why))
        goto fail;
    return hub;
fail:
    if (err)
        *err = why;
    hub_abort(hub);
    return NULL;
}

void hub_abort(struct hub *hub)
{
    if (!hub)
        return;
    for (int i = 0; hub->peers && i < hub->world_size; i++)
        if (hub->peers[i].fd >= 0)
            close(hub->peers[i].fd);
    if (hub->epoll_fd >= 0)
        close(hub->epoll_fd);
    free(hub->peers);
    free(hub);
}

void hub_destroy(struct hub *hub)
{
    if (hub && hub->error.code == ERROR_NONE)
        hub_barrier(hub, NULL);
    hub_abort(hub);
}

int hub_lost(const struct hub *hub)
{
    return hub->lost;
}

/* Wait for one connection while nothing else can be done. */
static int await_peer(struct hub *hub, int rank, short events)
{
    struct pollfd pollfd = {.fd = hub->peers[rank].fd, .events = events};

    poll(&pollfd, 1, SLICE_MS);
    return hub_check_stop(hub);
}

/* What is left of the message behind `done` bytes, as at most two pieces. */
static int pieces(struct message *message, size_t done, struct iovec piece[2])
{
    size_t head = sizeof(message->header);
    int n = 0;

    if (done < head) {
        piece[n++] = (struct iovec){(char *)&message->header + done, head - done};
        done = head;
    }
    if (done - head < message->len) {
        piece[n++] =
            (struct iovec){message->data + (done - head), message->len - (done - head)};
    }
    return n;
}

static size_t total(const struct message *message)
{
    return sizeof(message->header) + message->len;
}

/* 1: moved or nothing to move now, 0: complete, -1: lost. */
static int move(struct hub *hub, int rank, struct message *message, size_t *done,
                bool is_send)
{
    struct iovec piece[2];
    struct msghdr msg = {.msg_iov = piece};
    int fd = hub->peers[rank].fd;

    msg.msg_iovlen = (size_t)pieces(message, *done, piece);
    ssize_t n = is_send ? sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : recvmsg(fd, &msg, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (n <= 0)
        return hub_lose(hub, rank, n < 0 ? errno : 0);
    *done += (size_t)n;
    return *done < total(message);
}

static int check_header(struct hub *hub, int rank, const struct message *message,
                        size_t len)
{
    char text[100];

    if (message->header.turn == hub->turn && message->header.len == len)
        return 0;
    snprintf(text, sizeof(text), "rank %d is out of step", rank);
    return hub_fail(hub, ERROR_INTERNAL, text);
}

static int send_whole(struct hub *hub, int rank, struct message *message)
{
    size_t done = 0;
    int status;

    while ((status = move(hub, rank, message, &done, true)) > 0)
        if (await_peer(hub, rank, POLLOUT))
            return -1;
    return status;
}

static int receive_whole(struct hub *hub, int rank, struct message *message)
{
    size_t done = 0;
    int status;

    while ((status = move(hub, rank, message, &done, false)) > 0)
        if (await_peer(hub, rank, POLLIN))
            return -1;
    return status;
}

static int exchange_with_hub(struct hub *hub, const void *mine, size_t len, void *all)
{
    size_t whole = len * (size_t)hub->world_size;
    struct message out = {{hub->turn, len}, (char *)(uintptr_t)mine, len};
    struct message in = {{0, 0}, all, whole};

    if (send_whole(hub, 0, &out) || receive_whole(hub, 0, &in))
        return -1;
    return check_header(hub, 0, &in, whole);
}

/* A connection has something to read. 1: a message is now complete. */
static int pull(struct hub *hub, int rank, struct message *messages)
{
    struct hub_peer *peer = &hub->peers[rank];
    struct message *message = &messages[rank];

    if (peer->done == total(message)) /* it has nothing to say: it was closed */
        return hub_lose(hub, rank, 0);
    int status = move(hub, rank, message, &peer->done, false);
    if (status)
        return status < 0 ? -1 : 0;
    return check_header(hub, rank, message, message->len) ? -1 : 1;
}

static int gather(struct hub *hub, struct message *messages)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int left = hub->world_size - 1;

    while (left > 0) {
        int n = epoll_wait(hub->epoll_fd, events, EVENTS_AT_ONCE, SLICE_MS);
        if (hub_check_stop(hub))
            return -1;
        for (int i = 0; i < n; i++) {
            int status = pull(hub, (int)events[i].data.u32, messages);
            if (status < 0)
                return -1;
            left -= status;
        }
    }
    return 0;
}

static int serve(struct hub *hub, const void *mine, size_t len, char *all)
{
    size_t n = (size_t)hub->world_size;
    struct message *messages = calloc(n, sizeof(*messages));
    int status = 0;

    if (!messages)
        return hub_fail(hub, ERROR_MEMORY, "gathering: out of memory");
    for (size_t rank = 0; rank < n; rank++) {
        messages[rank].data = all + rank * len;
        messages[rank].len = len;
        hub->peers[rank].done = 0;
    }
    if (len > 0)
        memmove(all, mine, len);
    status = gather(hub, messages);
    free(messages);
    struct message reply = {{hub->turn, n * len}, all, n * len};
    for (int rank = 1; !status && rank < hub->world_size; rank++)
        status = send_whole(hub, rank, &reply);
    return status;
}

int hub_allgather(struct hub *hub, const void *mine, size_t len, void *all,
                  struct error *err)
{
    if (hub->error.code != ERROR_NONE || hub_check_stop(hub))
        return failed(hub, err);
    int status = hub->rank == 0 ? serve(hub, mine, len, all)
                                : exchange_with_hub(hub, mine, len, all);
    hub->turn++;
    return status ? failed(hub, err) : 0;
}

int hub_barrier(struct hub *hub, struct error *err)
{
    char nothing = 0;

    return hub_allgather(hub, &nothing, 0, &nothing, err);
}
