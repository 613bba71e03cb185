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
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/worker/group/watch.h"

#define KEY "ringbench/hub"
#define LEAVE_MS 5000
#define SLICE_MS 500 /* how late a stop that came before a wait may be noticed */
#define EVENTS_AT_ONCE 64

struct hub {
    int rank, world_size;
    struct watch watch;
    int *fds;      /* by rank; but for rank 0 only that of rank 0 is one */
    int epoll_fd;  /* rank 0: whose message can be read */
    uint64_t turn; /* operations so far */
};

struct header {
    uint64_t turn, len;
};

/* The bytes of one message: a header, then the rest. */
struct message {
    struct header header;
    char *data;
    size_t len;
    size_t done; /* bytes that have been moved, of both */
};

/* ---- Joining ---- */

/* The first operation's bytes may be there before the last rank is. */
static int await_messages(struct hub *hub, struct error *err)
{
    hub->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (hub->epoll_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "epoll");
    for (int rank = 1; rank < hub->world_size; rank++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)rank};
        if (epoll_ctl(hub->epoll_fd, EPOLL_CTL_ADD, hub->fds[rank], &event))
            return error_set_errno(err, ERROR_IO, errno, "waiting for rank %d", rank);
    }
    return 0;
}

static int let_in(struct hub *hub, struct join *join, struct error *err)
{
    unsigned char token[DOOR_TOKEN_BYTES];

    if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token))
        return error_set_errno(err, ERROR_IO, errno, "random numbers");
    for (int rank = 1; rank < hub->world_size; rank++)
        hub->fds[rank] = JOIN_AWAITED;
    return join_publish(join, KEY, token, NULL, err) || join_admit(join, err) ||
                   await_messages(hub, err)
               ? -1
               : 0;
}

static int go_to(struct join *join, struct error *err)
{
    struct join_place place;
    json_t *record = join_read(join, KEY, 0, &place, err);

    if (!record)
        return -1;
    json_decref(record);
    return join_connect(join, 0, &place, err) || join_admit(join, err) ? -1 : 0;
}

static int connect_ranks(struct hub *hub, const struct join_config *config,
                         struct error *err)
{
    struct join join;

    hub->fds = calloc((size_t)config->world_size, sizeof(*hub->fds));
    if (!hub->fds)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    join_begin(&join, config, &hub->watch, hub->fds);
    int status = hub->rank == 0 ? let_in(hub, &join, err) : go_to(&join, err);
    join_end(&join);
    return status;
}

struct hub *hub_create(const struct join_config *config, struct error *err)
{
    struct hub *hub = calloc(1, sizeof(*hub));

    if (!hub) {
        error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
        return NULL;
    }
    hub->rank = config->rank;
    hub->world_size = config->world_size;
    hub->epoll_fd = hub->watch.epoll_fd = -1;
    if (watch_init(&hub->watch, config->world_size, config->stop, err) ||
        connect_ranks(hub, config, err) || hub_barrier(hub, err)) {
        hub_abort(hub);
        return NULL;
    }
    return hub;
}

void hub_abort(struct hub *hub)
{
    if (!hub)
        return;
    watch_release(&hub->watch);
    for (int i = 0; hub->fds && i < hub->world_size; i++)
        if (hub->fds[i] >= 0)
            close(hub->fds[i]);
    if (hub->epoll_fd >= 0)
        close(hub->epoll_fd);
    free(hub->fds);
    free(hub);
}

void hub_destroy(struct hub *hub)
{
    if (hub && hub->watch.error.code == ERROR_NONE) {
        /* Who has rank 0's answer ends while others still wait for theirs. */
        watch_leave(&hub->watch, LEAVE_MS);
        hub_barrier(hub, NULL);
    }
    hub_abort(hub);
}

int hub_lost(const struct hub *hub)
{
    return hub->watch.lost;
}

/* ---- Messages ---- */

/* Wait for one connection while nothing else can be done. */
static int await_peer(struct hub *hub, int rank, short events)
{
    struct pollfd pollfd = {.fd = hub->fds[rank], .events = events};

    return poll(&pollfd, 1, SLICE_MS) > 0 ? 0 : watch_check(&hub->watch);
}

/* What is left of the message, as at most two pieces. */
static int pieces(struct message *message, struct iovec piece[2])
{
    size_t head = sizeof(message->header), done = message->done;
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
static int move(struct hub *hub, int rank, struct message *message, bool is_send)
{
    struct iovec piece[2];
    struct msghdr msg = {.msg_iov = piece};
    int fd = hub->fds[rank];

    msg.msg_iovlen = (size_t)pieces(message, piece);
    ssize_t n = is_send ? sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : recvmsg(fd, &msg, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (n <= 0)
        return watch_lose(&hub->watch, rank, n < 0 ? errno : 0);
    message->done += (size_t)n;
    return message->done < total(message);
}

static int check_header(struct hub *hub, int rank, const struct message *message,
                        size_t len)
{
    char text[100];

    if (message->header.turn == hub->turn && message->header.len == len)
        return 0;
    snprintf(text, sizeof(text), "rank %d is out of step", rank);
    return watch_fail(&hub->watch, ERROR_INTERNAL, text);
}

static int move_whole(struct hub *hub, int rank, struct message *message, bool is_send)
{
    int status;

    while ((status = move(hub, rank, message, is_send)) > 0)
        if (await_peer(hub, rank, is_send ? POLLOUT : POLLIN))
            return -1;
    return status;
}

/* ---- Operations ---- */

static int exchange_with_hub(struct hub *hub, const void *mine, size_t len, void *all)
{
    size_t whole = len * (size_t)hub->world_size;
    struct message out = {{hub->turn, len}, (char *)(uintptr_t)mine, len, 0};
    struct message in = {{0, 0}, all, whole, 0};

    if (move_whole(hub, 0, &out, true) || move_whole(hub, 0, &in, false))
        return -1;
    return check_header(hub, 0, &in, whole);
}

/* A connection has something to read. 1: a message is now complete. */
static int pull(struct hub *hub, int rank, struct message *messages)
{
    struct message *message = &messages[rank];

    if (message->done == total(message)) /* it has nothing to say: it was closed */
        return watch_lose(&hub->watch, rank, 0);
    int status = move(hub, rank, message, false);
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
        if (n <= 0 && watch_check(&hub->watch))
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
        return watch_fail(&hub->watch, ERROR_MEMORY, "gathering: out of memory");
    for (size_t rank = 0; rank < n; rank++) {
        messages[rank].data = all + rank * len;
        messages[rank].len = len;
    }
    if (len > 0)
        memmove(all, mine, len);
    status = gather(hub, messages);
    free(messages);
    for (int rank = 1; !status && rank < hub->world_size; rank++) {
        struct message reply = {{hub->turn, n * len}, all, n * len, 0};
        status = move_whole(hub, rank, &reply, true);
    }
    return status;
}

int hub_allgather(struct hub *hub, const void *mine, size_t len, void *all,
                  struct error *err)
{
    if (watch_check(&hub->watch))
        return watch_reason(&hub->watch, err);
    int status = hub->rank == 0 ? serve(hub, mine, len, all)
                                : exchange_with_hub(hub, mine, len, all);
    hub->turn++;
    return status ? watch_reason(&hub->watch, err) : 0;
}

int hub_barrier(struct hub *hub, struct error *err)
{
    char nothing = 0;

    return hub_allgather(hub, &nothing, 0, &nothing, err);
}
