/* reach.c - whether the nodes of a case reach each other where NCCL will try to */
#include "agent/worker/nccl/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/worker/group/listen.h"
#include "agent/worker/nccl/nccl_interface.h"
#include "common/base/clock.h"

/* What the first rank of each node tells of it. */
struct place {
    char node[64];
    char interface[NCCL_INTERFACE_NAME_MAX], address[INET6_ADDRSTRLEN];
    int port;          /* 0: it can't listen, or no one knows where NCCL will */
    char failure[200]; /* why */
};

/* What it found; failures 0: it reaches all. */
struct finding {
    int failures, to, code; /* the first one: a rank, and errno */
};

struct attempt {
    int rank, fd, code; /* code -1: under way */
};

static void describe_place(const char *node, int *listener, struct place *own)
{
    struct nccl_interface interface;
    struct error why = {0};
    int status = nccl_interface_find(&interface, &why);

    snprintf(own->node, sizeof(own->node), "%s", node);
    *listener = -1;
    if (status == 0) {
        snprintf(own->interface, sizeof(own->interface), "%s", interface.name);
        snprintf(own->address, sizeof(own->address), "%s", interface.address);
        *listener = listen_on(interface.address, &own->port, &why);
    }
    if (*listener < 0) {
        own->port = 0;
        snprintf(own->failure, sizeof(own->failure), "%.190s",
                 status > 0 ? "" : why.text);
    }
}

/* Whether the rank is the first of its node, and so speaks for it. */
static bool is_first(const struct place *all, int rank)
{
    for (int i = 0; i < rank; i++)
        if (strcmp(all[i].node, all[rank].node) == 0)
            return false;
    return true;
}

static void begin(const struct place *to, struct attempt *attempt)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST},
                    *list;
    char port[16];

    snprintf(port, sizeof(port), "%d", to->port);
    attempt->code = EADDRNOTAVAIL;
    if (getaddrinfo(to->address, port, &hints, &list))
        return;
    attempt->fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    attempt->code = 0;
    if (attempt->fd < 0 || connect(attempt->fd, list->ai_addr, list->ai_addrlen))
        attempt->code = errno == EINPROGRESS ? -1 : errno;
    freeaddrinfo(list);
}

/* Take what poll() says; how many are still under way. */
static int settle(struct attempt *attempts, int n, struct pollfd *fds, int wait_ms)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        bool is_open = attempts[i].code == -1;
        fds[i] = (struct pollfd){.fd = is_open ? attempts[i].fd : -1, .events = POLLOUT};
    }
    poll(fds, (nfds_t)n, wait_ms);
    for (int i = 0; i < n; i++) {
        int failure = 0;
        socklen_t len = sizeof(failure);
        if (attempts[i].code == -1 && fds[i].revents) {
            getsockopt(attempts[i].fd, SOL_SOCKET, SO_ERROR, &failure, &len);
            attempts[i].code = failure;
        }
        left += attempts[i].code == -1;
    }
    return left;
}

/* Until all have an answer or time is up; -1: the mesh says that a peer is gone. */
static int wait_for_all(struct mesh *mesh, struct attempt *attempts, int n,
                        struct pollfd *fds)
{
    int64_t deadline = clock_monotonic_ns() + REACH_MS * INT64_C(1000000);

    while (settle(attempts, n, fds, 50) > 0 && clock_monotonic_ns() < deadline)
        if (watch_check(&mesh->watch))
            return -1;
    return 0;
}

/* Try every other node's address. */
static int try_all(struct mesh *mesh, const struct place *all, struct finding *out,
                   struct error *err)
{
    int n = 0, status;
    struct attempt *attempts = calloc((size_t)mesh->world_size, sizeof(*attempts));
    struct pollfd *fds = calloc((size_t)mesh->world_size, sizeof(*fds));

    if (!attempts || !fds) {
        free(attempts);
        free(fds);
        return error_set(err, ERROR_MEMORY, "communicator: out of memory");
    }
    for (int rank = 0; rank < mesh->world_size; rank++) {
        if (all[rank].port > 0 && strcmp(all[rank].node, all[mesh->rank].node) != 0 &&
            is_first(all, rank)) {
            attempts[n] = (struct attempt){.rank = rank, .fd = -1};
            begin(&all[rank], &attempts[n++]);
        }
    }
    status = wait_for_all(mesh, attempts, n, fds);
    for (int i = n - 1; i >= 0; i--) {
        if (attempts[i].code != 0) {
            *out =
                (struct finding){out->failures + 1, attempts[i].rank,
                                 attempts[i].code == -1 ? ETIMEDOUT : attempts[i].code};
        }
        if (attempts[i].fd >= 0)
            close(attempts[i].fd);
    }
    free(attempts);
    free(fds);
    return status ? watch_reason(&mesh->watch, err) : 0;
}

static int report(const struct place *all, const struct finding *found, int n,
                  struct error *err)
{
    int failures = 0, first = -1;
    char more[64] = "";

    for (int rank = 0; rank < n; rank++) {
        failures += found[rank].failures;
        first = first < 0 && found[rank].failures > 0 ? rank : first;
    }
    if (first < 0)
        return 0;
    const struct place *to = &all[found[first].to];
    if (failures > 1) {
        snprintf(more, sizeof(more), "; and %d more such way%s", failures - 1,
                 failures == 2 ? "" : "s");
    }
    return error_set(
        err, ERROR_CONFLICT,
        "%s cannot reach %s at %s, the address of its interface %s that NCCL "
        "will use: %s%s (NCCL_SOCKET_IFNAME chooses another)",
        all[first].node, to->node, to->address, to->interface,
        found[first].code == ETIMEDOUT ? "no answer in time"
                                       : strerror(found[first].code),
        more);
}

static int check_places(const struct place *all, int n, int *n_nodes, struct error *err)
{
    *n_nodes = 0;
    for (int rank = 0; rank < n; rank++) {
        bool speaks = is_first(all, rank);
        *n_nodes += speaks;
        if (speaks && all[rank].failure[0]) {
            return error_set(err, ERROR_CONFLICT, "%s: %s", all[rank].node,
                             all[rank].failure);
        }
    }
    return 0;
}

/* With memory for all: places and findings by rank. */
static int check_all(struct mesh *mesh, const struct place *own, struct place *all,
                     struct finding *found, struct error *err)
{
    struct finding mine = {0};
    int n = mesh->world_size, n_nodes;

    if (mesh_allgather(mesh, own, sizeof(*own), all, err) ||
        check_places(all, n, &n_nodes, err))
        return -1;
    if (n_nodes == 1)
        return 0;
    if ((is_first(all, mesh->rank) && try_all(mesh, all, &mine, err)) ||
        mesh_allgather(mesh, &mine, sizeof(mine), found, err))
        return -1;
    return report(all, found, n, err);
}

int reach_check(struct mesh *mesh, const char *node, struct error *err)
{
    size_t n = (size_t)mesh->world_size;
    struct place own = {.port = 0}, *all = calloc(n, sizeof(*all));
    struct finding *found = calloc(n, sizeof(*found));
    int listener, status;

    describe_place(node, &listener, &own);
    status = all && found ? check_all(mesh, &own, all, found, err)
                          : error_set(err, ERROR_MEMORY, "communicator: out of memory");
    if (listener >= 0)
        close(listener);
    free(all);
    free(found);
    return status;
}
