/* SPDX-License-Identifier: Apache-2.0 */
/* reach.c - test whether all nodes reach each other at NCCL's addresses */
#include "agent/worker/nccl/reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/worker/group/attempt.h"
#include "agent/worker/group/listen.h"
#include "agent/worker/nccl/nccl_interface.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

/* The address of a node for NCCL, published by the node's first rank. */
struct place {
    char node[64];
    char interface[NCCL_INTERFACE_NAME_MAX], address[INET6_ADDRSTRLEN];
    char port[8];      /* "": no listening socket, or NCCL's address is not known */
    char failure[200]; /* why this node does not listen, or "" */
};

/* The result of one node. `failures` is 0 if the node reaches all other nodes. */
struct finding {
    /* the first failure: the rank that was not reached, and the errno */
    int failures, to, code;
};

static void describe_place(const char *node, int nccl_version, int *listener,
                           struct place *own)
{
    struct nccl_interface interface;
    struct error why = {0};
    int status = nccl_interface_find(nccl_version, &interface, &why), port;

    snprintf(own->node, sizeof(own->node), "%s", node);
    *listener = -1;
    if (status == 0) {
        snprintf(own->interface, sizeof(own->interface), "%s", interface.name);
        snprintf(own->address, sizeof(own->address), "%s", interface.address);
        *listener = listen_on(interface.address, &port, &why);
    }
    if (*listener >= 0)
        snprintf(own->port, sizeof(own->port), "%d", port);
    else
        snprintf(own->failure, sizeof(own->failure), "%.190s",
                 status > 0 ? "" : why.text);
}

/* True if the rank is the first of its node. Only first ranks take part. */
static bool is_first(const struct place *all, int rank)
{
    for (int i = 0; i < rank; i++)
        if (strcmp(all[i].node, all[rank].node) == 0)
            return false;
    return true;
}

/* Wait until all attempts are done or REACH_MS is over. -1: a peer is lost. */
static int wait_for_all(struct tree *tree, struct attempt *attempts, int n,
                        struct pollfd *fds)
{
    int64_t deadline = clock_monotonic_ns() + REACH_MS * INT64_C(1000000);

    while (attempts_settle(attempts, n, fds, 50) > 0 && clock_monotonic_ns() < deadline)
        if (watch_check(&tree->watch))
            return -1;
    return 0;
}

static struct attempt_place place_of(const struct place *place)
{
    return (struct attempt_place){place->address, place->port, place->interface};
}

/* Report and count the failed attempts. *out describes the first. */
static void conclude(const struct place *all, const struct attempt *attempts, int n,
                     const struct attempt_observer *observer, struct finding *out)
{
    for (int i = n - 1; i >= 0; i--) {
        struct attempt_place at = place_of(&all[attempts[i].rank]);
        bool is_silent = attempts[i].code == ATTEMPT_UNDER_WAY;

        if (attempts[i].code == 0)
            continue;
        attempt_report(&attempts[i], "nccl", attempts[i].rank, &at, observer);
        *out = (struct finding){out->failures + 1, attempts[i].rank,
                                is_silent ? ETIMEDOUT : attempts[i].code};
    }
}

static int try_all(struct tree *tree, const struct place *all,
                   const struct attempt_observer *observer, struct finding *out,
                   struct error *err)
{
    int n = 0, status;
    size_t world_size = (size_t)tree->world_size;
    struct attempt *attempts = memory_zeroed(world_size, sizeof(*attempts), "addresses");
    struct pollfd *fds = memory_zeroed(world_size, sizeof(*fds), "addresses");

    for (int rank = 0; rank < tree->world_size; rank++) {
        struct attempt_place at = place_of(&all[rank]);
        if (all[rank].port[0] && strcmp(all[rank].node, all[tree->rank].node) != 0 &&
            is_first(all, rank) && !attempt_begin(&attempts[n], rank, &at, NULL))
            n++;
    }
    status = wait_for_all(tree, attempts, n, fds);
    if (!status)
        conclude(all, attempts, n, observer, out);
    for (int i = 0; i < n; i++)
        if (attempts[i].fd >= 0)
            close(attempts[i].fd);
    free(attempts);
    free(fds);
    return status ? watch_reason(&tree->watch, err) : 0;
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
        snprintf(more, sizeof(more), "; %d more connection%s failed", failures - 1,
                 failures == 2 ? "" : "s");
    }
    return error_set(err, ERROR_CONFLICT,
                     "%s cannot reach %s at %s, the address of interface %s that NCCL "
                     "will use: %s%s (NCCL_SOCKET_IFNAME selects another interface)",
                     all[first].node, to->node, to->address, to->interface,
                     found[first].code == ETIMEDOUT ? "no answer in time"
                                                    : strerror(found[first].code),
                     more);
}

static int check_places(const struct place *all, int n, int *n_nodes, struct error *err)
{
    *n_nodes = 0;
    for (int rank = 0; rank < n; rank++) {
        bool is_counted = is_first(all, rank);
        *n_nodes += is_counted;
        if (is_counted && all[rank].failure[0]) {
            return error_set(err, ERROR_CONFLICT, "%s: %s", all[rank].node,
                             all[rank].failure);
        }
    }
    return 0;
}

static int check_all(struct tree *tree, const struct place *own,
                     const struct attempt_observer *observer, struct place *all,
                     struct finding *found, struct error *err)
{
    struct finding mine = {0};
    int n = tree->world_size, n_nodes;

    if (tree_allgather(tree, own, sizeof(*own), all, err) ||
        check_places(all, n, &n_nodes, err))
        return -1;
    if (n_nodes == 1)
        return 0;
    if ((is_first(all, tree->rank) && try_all(tree, all, observer, &mine, err)) ||
        tree_allgather(tree, &mine, sizeof(mine), found, err))
        return -1;
    return report(all, found, n, err);
}

int reach_check(struct tree *tree, const char *node, int nccl_version,
                const struct attempt_observer *observer, struct error *err)
{
    size_t n = (size_t)tree->world_size;
    struct place own = {.port = ""}, *all = memory_zeroed(n, sizeof(*all), "addresses");
    struct finding *found = memory_zeroed(n, sizeof(*found), "addresses");
    int listener, status;

    describe_place(node, nccl_version, &listener, &own);
    status = check_all(tree, &own, observer, all, found, err);
    if (listener >= 0)
        close(listener);
    free(all);
    free(found);
    return status;
}
