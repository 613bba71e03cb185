/* SPDX-License-Identifier: Apache-2.0 */
/* links_open.c - the host backend's data connections: set up */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/worker/host/links.h"
#include "agent/worker/host/sockets.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

#define SLICE_MS 100 /* a stop is noticed within this time */

/* The record that all ranks of the case exchange. */
struct record {
    pid_t pid;
    int fd, sockets;
    unsigned char token[SHM_TOKEN_BYTES]; /* token of the rank's shared segment */
    struct link_place place;
};

/* ---- Creation ---- */

static int describe(struct links *links, const struct backend_env *env, int sockets,
                    struct record *own, struct error *err)
{
    int number;

    *own = (struct record){.pid = getpid(), .fd = links->group.fd};
    memcpy(own->token, shm_group_token(&links->group), SHM_TOKEN_BYTES);
    if (links->tree->is_local)
        return 0;
    const char *address = env->address && env->address[0] ? env->address : "127.0.0.1";
    if (greeting_listen(&links->port, address, &number, err))
        return -1;
    snprintf(own->place.address, sizeof(own->place.address), "%s", address);
    snprintf(own->place.port, sizeof(own->place.port), "%d", number);
    attempt_interface(links->port.listener, own->place.interface);
    memcpy(own->place.token, links->port.token, TOKEN_BYTES);
    own->sockets = sockets ? sockets : sockets_for_interface(own->place.interface);
    return 0;
}

static int host_of(const struct links *links, int rank)
{
    return links->tree->host_of[links_name(links, rank)];
}

static int join_group(struct links *links, const struct record *all, struct error *err)
{
    int n = 0, self = 0;
    /* Cast to unsigned, because gcc 14 otherwise warns of a possibly negative size. */
    struct shm_peer *peers =
        memory_zeroed((unsigned)links->world_size, sizeof(*peers), "communicator");
    for (int rank = 0; rank < links->world_size; rank++) {
        const struct record *record = &all[links_name(links, rank)];
        links->group_of[rank] = -1;
        if (host_of(links, rank) != links->tree->host)
            continue;
        self = rank == links->rank ? n : self;
        links->group_of[rank] = n;
        peers[n].rank = rank;
        peers[n].pid = record->pid;
        peers[n].remote_fd = record->fd;
        memcpy(peers[n].token, record->token, SHM_TOKEN_BYTES);
        n++;
    }
    links->is_local = n == links->world_size;
    return shm_group_join(&links->group, peers, n, self, err);
}

/* Order the ring. Hosts are sorted by their first rank, and the ranks of each host are
 * adjacent. */
static void order_ring(struct links *links)
{
    int n = 0;

    for (int first = 0; first < links->world_size; first++) {
        bool is_first = true;
        for (int rank = 0; rank < first && is_first; rank++)
            is_first = host_of(links, rank) != host_of(links, first);
        for (int rank = first; is_first && rank < links->world_size; rank++) {
            if (host_of(links, rank) == host_of(links, first)) {
                links->ring_at = rank == links->rank ? n : links->ring_at;
                links->ring[n++] = rank;
            }
        }
    }
    assert(n == links->world_size && links->ring[links->ring_at] == links->rank);
}

static void connect_local(struct links *links)
{
    struct shm_group *group = &links->group;

    for (int i = 0; i < group->n; i++) {
        int rank = group->peers[i].rank;
        if (i != group->self) {
            endpoint_init_shm(&links->endpoints[rank], rank,
                              shm_group_queue(group, group->self, i),
                              shm_group_queue(group, i, group->self));
        }
    }
}

static void copy_places(struct links *links, const struct record *all)
{
    for (int rank = 0; rank < links->world_size; rank++) {
        const struct record *record = &all[links_name(links, rank)];
        links->places[rank] = record->place;
        if (rank == 0 || record->sockets < links->sockets)
            links->sockets = record->sockets;
    }
}

static int form(struct links *links, const struct backend_env *env, int sockets,
                struct error *err)
{
    struct record own, *all = memory_zeroed((size_t)links->tree->world_size, sizeof(*all),
                                            "communicator");
    int status = shm_group_init(&links->group, links->watch, err) ||
                         describe(links, env, sockets, &own, err) ||
                         tree_allgather(links->tree, &own, sizeof(own), all, err) ||
                         join_group(links, all, err)
                     ? -1
                     : 0;
    if (!status)
        copy_places(links, all);
    free(all);
    if (status)
        return -1;
    order_ring(links);
    connect_local(links);
    links->fds = memory_zeroed((size_t)links->world_size * (size_t)(links->sockets + 1),
                               sizeof(*links->fds), "communicator");
    if (links->sockets > 1)
        links->peers = memory_zeroed((size_t)links->world_size, sizeof(*links->peers),
                                     "communicator");
    for (int i = 0; i < links->world_size * links->sockets; i++)
        links->fds[i] = -1;
    return 0;
}

struct links *links_create(struct tree *tree, const struct backend_env *env, int sockets,
                           struct error *err)
{
    struct links *links = memory_zeroed(1, sizeof(*links), "communicator");
    size_t n = (size_t)backend_env_size(env);
    links->tree = tree;
    links->watch = &tree->watch;
    links->rank = backend_env_rank(env);
    links->world_size = (int)n;
    links->names = backend_env_is_split(env) ? env->members : NULL;
    links->observer = env->observer;
    links->timeout_ms = env->timeout_ms;
    links->group.fd = links->port.listener = -1;
    links->endpoints = memory_zeroed(n, sizeof(*links->endpoints), "communicator");
    links->places = memory_zeroed(n, sizeof(*links->places), "communicator");
    links->pollfds = memory_zeroed(2 * n + 2, sizeof(*links->pollfds), "communicator");
    links->group_of = memory_zeroed(n, sizeof(*links->group_of), "communicator");
    links->ring = memory_zeroed(n, sizeof(*links->ring), "communicator");
    if (form(links, env, sockets, err)) {
        links_destroy(links);
        return NULL;
    }
    return links;
}

void links_destroy(struct links *links)
{
    if (!links)
        return;
    for (int i = 0; links->fds && i < links->world_size * links->sockets; i++)
        if (links->fds[i] >= 0)
            close(links->fds[i]);
    greeting_close(&links->port);
    shm_group_release(&links->group);
    free(links->endpoints);
    free(links->places);
    free(links->fds);
    free(links->peers);
    free(links->pollfds);
    free(links->group_of);
    free(links->ring);
    free(links);
}

/* ---- Opening ---- */

static int *fds_of(const struct links *links, int rank)
{
    return links->fds + rank * links->sockets;
}

static int connect_to(struct links *links, int rank)
{
    const struct link_place *at = &links->places[rank];
    struct attempt_place place = {at->address, at->port, at->interface};
    struct attempt_until until = {links->watch,
                                  clock_monotonic_ns() + links->timeout_ms * 1000000,
                                  &links->observer};
    int *fds = fds_of(links, rank);
    struct error err;

    for (int i = 0; i < links->sockets; i++) {
        fds[i] = attempt_connect(links_name(links, rank), &place, "ranks", &until, &err);
        if (fds[i] < 0 || greeting_send(fds[i], at->token, links->rank, i, &err))
            return watch_fail_after_news(links->watch, &err);
    }
    return 0;
}

static bool is_whole(const struct links *links, int rank)
{
    const int *fds = fds_of(links, rank);

    for (int i = 0; i < links->sockets; i++)
        if (fds[i] < 0)
            return false;
    return true;
}

/* Accept all connections of `rank`. Connections of other ranks may arrive first. */
static int accept_from(struct links *links, int rank)
{
    struct greeting_caller caller;
    struct error err;

    while (!is_whole(links, rank)) {
        if (watch_check(links->watch))
            return -1;
        int status = greeting_accept(&links->port, SLICE_MS, &caller, &err);
        if (status < 0)
            return watch_fail(links->watch, err.code, err.text);
        if (status == 0)
            continue;
        if (caller.rank > links->rank && caller.rank < links->world_size &&
            caller.purpose >= 0 && caller.purpose < links->sockets &&
            fds_of(links, caller.rank)[caller.purpose] < 0)
            fds_of(links, caller.rank)[caller.purpose] = caller.fd;
        else
            greeting_refuse(&links->port, caller.fd);
    }
    return 0;
}

/* True for a rank in another container of this machine. */
static bool is_near(const struct links *links, int rank)
{
    const struct tree *tree = links->tree;

    return tree->hosts[host_of(links, rank)].machine == tree->hosts[tree->host].machine;
}

struct endpoint *links_open(struct links *links, int rank)
{
    struct endpoint *endpoint = &links->endpoints[rank];
    int *fds = fds_of(links, rank);

    assert(rank != links->rank && links->group_of[rank] < 0);
    if (rank < links->rank ? connect_to(links, rank) : accept_from(links, rank))
        return NULL;
    for (int i = 0; i < links->sockets; i++) {
        endpoint_send_at_once(fds[i]);
        if (is_near(links, rank))
            endpoint_shorten_queue(fds[i]);
    }
    if (links->sockets == 1) {
        endpoint_init_tcp(endpoint, rank, fds[0]);
        return endpoint;
    }
    sockets_init(&links->peers[rank], endpoint, rank, fds, links->sockets);
    return endpoint;
}
