/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - the control plane of a case: barrier, all-gather and the news of a death
 *
 * The ranks of a host meet in a shared segment (segment.h) of their first one, which
 * leads. The leaders form a tree, each with at most TREE_WAYS children. Gathered data
 * goes up, the result goes down. A leader has at most TREE_WAYS + 1 neighbours, so no
 * rank needs a connection to all others.
 *
 * A leader watches the processes of its host, the others watch their leader, and leaders
 * watch their neighbours' connections. A loss goes along the tree from where it is seen,
 * over connections of its own, and into each host's segment. Another thread (the worker's
 * watchdog) does so: the one that measures only reads a flag (watch_check).
 *
 * Connections are probed after 10 s without bytes; 30 s without an answer end them, so a
 * case survives a network that is down for 15 s.
 *
 * One thread, but for tree_fd, tree_look and tree_has_silence, which are for one other. A
 * call that fails has latched the reason in tree->watch, and all later calls fail
 * likewise. */
#ifndef RINGBENCH_WORKER_GROUP_TREE_H
#define RINGBENCH_WORKER_GROUP_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/worker/group/attempt.h"
#include "agent/worker/group/rendezvous_client.h"
#include "agent/worker/group/segment.h"
#include "agent/worker/group/watch.h"
#include "common/base/error.h"

#define TREE_WAYS 8

struct tree_config {
    int rank, world_size;
    struct rendezvous_client *store; /* borrowed until all have joined */
    const char *address;             /* own, as others reach it; NULL: loopback */
    const char *hostid;              /* NULL: this host's */
    const atomic_int *stop;          /* may be NULL */
    int64_t timeout_ms;              /* for all of it */
    struct attempt_ear ear;          /* of addresses that cannot be reached */
};

/* A host's leader. */
struct tree_host {
    int leader, machine; /* a rank; hosts of one machine have the same number */
    char address[256], port[8], interface[ATTEMPT_INTERFACE_MAX];
    struct segment_place segment;
    int first, n; /* its ranks, in `order` */
};

/* A neighbour in the tree. */
struct tree_link {
    int host, rank;
    int fd;         /* operations */
    int notice_fd;  /* deaths */
    bool is_silent; /* and that was said */
};

struct tree {
    int rank, world_size;
    struct watch watch;
    int n_hosts, host; /* the own one */
    struct tree_host *hosts;
    int *host_of;      /* index in `hosts`, by rank */
    int *order;        /* the ranks, host by host, ascending */
    int machine_ranks; /* ranks on this machine, whatever their host identity */
    bool is_local;     /* all ranks are on this host */
    struct segment segment;
    struct greeting_port port;
    struct tree_link links[1 + TREE_WAYS]; /* the parent first, if there is one */
    int n_links;
    bool has_parent;
    int epoll_fd; /* what tells of deaths */
    int *pidfds, n_pidfds;
    char *scratch;
    size_t scratch_len;
    uint64_t turn; /* operations so far */
};

/* Connect all ranks. Collective. */
struct tree *tree_create(const struct tree_config *config, struct error *err);
/* If nothing failed, wait (at most 5 s) until all are here too: then they may end. */
void tree_leave(struct tree *tree);
/* Without waiting. NULL is fine. */
void tree_destroy(struct tree *tree);

int tree_barrier(struct tree *tree, struct error *err);
/* `len` bytes of each rank, by rank; all: world_size * len bytes. */
int tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                   struct error *err);

/* "shm", "tcp" or "shm, tcp"; "self" without peers. A new reference. */
json_t *tree_describe(const struct tree *tree);

/* For the thread that watches: a descriptor that is readable when there is news (-1: none
 * will come), to be looked at by tree_look. */
int tree_fd(const struct tree *tree);
void tree_look(struct tree *tree);
/* About once a second: whether a neighbour has just fallen silent, and a sentence on it.
 */
bool tree_has_silence(struct tree *tree, char *text, size_t size);

#endif
