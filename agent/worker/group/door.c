/* door.c - a rank's port: who connects says in time who it is, or is sent away */
#include "agent/worker/group/door.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/listen.h"
#include "common/base/clock.h"
#include "common/base/log.h"

struct greeting {
    char magic[8];
    unsigned char token[DOOR_TOKEN_BYTES];
    uint32_t rank; /* network order */
};

static const char greeting_magic[8] = {'r', 'b', 'm', 'e', 's', 'h', '0', '2'};

struct door_guest {
    int fd;
    size_t len; /* of the greeting, as far as it has come */
    int64_t until_ns;
    struct greeting greeting;
};

void door_format_token(const unsigned char token[DOOR_TOKEN_BYTES],
                       char text[DOOR_TOKEN_TEXT])
{
    for (int i = 0; i < DOOR_TOKEN_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", token[i]);
}

int door_parse_token(const char *text, unsigned char token[DOOR_TOKEN_BYTES])
{
    if (strlen(text) != DOOR_TOKEN_TEXT - 1)
        return -1;
    for (int i = 0; i < DOOR_TOKEN_BYTES; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return -1;
        token[i] = (unsigned char)value;
    }
    return 0;
}

int door_open(struct door *door, const char *host,
              const unsigned char token[DOOR_TOKEN_BYTES], int *port, struct error *err)
{
    memset(door, 0, sizeof(*door));
    door->listener = -1;
    door->patience_ms = DOOR_PATIENCE_MS;
    memcpy(door->token, token, DOOR_TOKEN_BYTES);
    door->guests = calloc(DOOR_GUESTS_MAX, sizeof(*door->guests));
    if (!door->guests)
        return error_set(err, ERROR_MEMORY, "connecting ranks: out of memory");
    door->listener = listen_on(host && host[0] ? host : "127.0.0.1", port, err);
    return door->listener < 0 ? -1 : 0;
}

void door_close(struct door *door)
{
    if (!door->guests)
        return;
    for (int i = 0; i < door->n_guests; i++)
        close(door->guests[i].fd);
    free(door->guests);
    if (door->listener >= 0)
        close(door->listener);
    memset(door, 0, sizeof(*door));
}

/* ---- Sending away ---- */

/* Said once: a port scan is not to fill the log. */
static void warn(struct door *door, int fd, const char *why)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);
    char host[64] = "?", port[8] = "?";

    if (door->has_warned)
        return;
    door->has_warned = true;
    if (!getpeername(fd, (struct sockaddr *)&peer, &len)) {
        getnameinfo((struct sockaddr *)&peer, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    }
    log_warn(
        "closed a connection from %s port %s to this rank's port, which is for ranks "
        "of its case only: %s (further ones are not reported)",
        host, port, why);
}

static void drop_guest(struct door *door, int at)
{
    door->n_guests--;
    memmove(&door->guests[at], &door->guests[at + 1],
            (size_t)(door->n_guests - at) * sizeof(*door->guests));
}

static void send_away(struct door *door, int at, const char *why)
{
    int fd = door->guests[at].fd;

    drop_guest(door, at);
    warn(door, fd, why);
    close(fd);
}

void door_refuse(struct door *door, int fd)
{
    warn(door, fd, "no such rank is missing");
    close(fd);
}

/* ---- Hearing ---- */

/* In a time that does not tell where the first difference is. */
static bool is_token(const struct door *door, const unsigned char *token)
{
    unsigned difference = 0;

    for (int i = 0; i < DOOR_TOKEN_BYTES; i++)
        difference |= (unsigned)(door->token[i] ^ token[i]);
    return difference == 0;
}

/* 1: it has greeted, and is the caller's; 0: not yet, or it was sent away. */
static int hear(struct door *door, int at, uint32_t *rank, int *fd)
{
    struct door_guest *guest = &door->guests[at];
    struct greeting *greeting = &guest->greeting;
    ssize_t n = recv(guest->fd, (char *)greeting + guest->len,
                     sizeof(*greeting) - guest->len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        send_away(door, at, "it left without a greeting");
        return 0;
    }
    guest->len += (size_t)n;
    if (guest->len < sizeof(*greeting))
        return 0;
    if (memcmp(greeting->magic, greeting_magic, sizeof(greeting_magic)) != 0 ||
        !is_token(door, greeting->token)) {
        send_away(door, at, "its greeting is not that of a rank");
        return 0;
    }
    *rank = ntohl(greeting->rank);
    *fd = guest->fd;
    drop_guest(door, at);
    return 1;
}

static int accept_guest(struct door *door, uint32_t *rank, int *fd, struct error *err)
{
    int guest = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (guest < 0) {
        if ((errno == EMFILE || errno == ENFILE) && door->n_guests > 0) {
            send_away(door, 0, "no more connections can be open");
            return 0;
        }
        return errno == EAGAIN || errno == ECONNABORTED || errno == EINTR
                   ? 0
                   : error_set_errno(err, ERROR_IO, errno, "accepting a connection");
    }
    if (door->n_guests == DOOR_GUESTS_MAX)
        send_away(door, 0, "too many have connected since, and it has not greeted");
    door->guests[door->n_guests++] = (struct door_guest){
        .fd = guest, .until_ns = clock_monotonic_ns() + door->patience_ms * 1000000};
    /* A rank greets at once: mostly it is here. */
    return hear(door, door->n_guests - 1, rank, fd);
}

static void send_late_away(struct door *door)
{
    int64_t now_ns = clock_monotonic_ns();

    while (door->n_guests > 0 && door->guests[0].until_ns <= now_ns)
        send_away(door, 0, "it has not greeted in time");
}

int door_admit(struct door *door, int ms, int also, uint32_t *rank, int *fd,
               struct error *err)
{
    struct pollfd fds[DOOR_GUESTS_MAX + 2];
    int n = door->n_guests;

    for (int i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = door->guests[i].fd, .events = POLLIN};
    fds[n] = (struct pollfd){.fd = door->listener, .events = POLLIN};
    fds[n + 1] = (struct pollfd){.fd = also, .events = POLLIN};
    if (poll(fds, (nfds_t)n + 2, ms) < 0)
        return errno == EINTR ? 0 : error_set_errno(err, ERROR_IO, errno, "poll");
    /* From behind: who is sent away or admitted moves only those that were looked at. */
    for (int i = n - 1; i >= 0; i--)
        if (fds[i].revents && hear(door, i, rank, fd))
            return 1;
    send_late_away(door);
    return fds[n].revents ? accept_guest(door, rank, fd, err) : 0;
}

/* ---- The other side ---- */

int door_greet(int fd, const unsigned char token[DOOR_TOKEN_BYTES], int rank,
               struct error *err)
{
    struct greeting greeting = {.rank = htonl((uint32_t)rank)};

    memcpy(greeting.magic, greeting_magic, sizeof(greeting_magic));
    memcpy(greeting.token, token, DOOR_TOKEN_BYTES);
    /* The first bytes of a connection always fit into its buffer. */
    if (send(fd, &greeting, sizeof(greeting), MSG_NOSIGNAL) != (ssize_t)sizeof(greeting))
        return error_set_errno(err, ERROR_PEER, errno, "greeting");
    return 0;
}
