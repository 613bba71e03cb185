/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - the control tree of a case: barrier, all-gather, and notice of deaths
 *
 * The ranks of a host use a shared segment (segment.h) of their first rank, the leader.
 * The leaders form a tree in which each has at most TREE_WAYS children. Gathered data
 * goes up, the result goes down. A leader has at most TREE_WAYS + 1 neighbors, so no rank
 * needs connections to all others.
 *
 * A leader observes the processes of its host, the other ranks their leader, and leaders
 * their neighbors' connections. The rank that detects a loss sends it along the tree,
 * over separate connections, and into its host's segment. The watchdog's thread does
 * this. The measuring thread only reads a flag (watch_check).
 *
 * Connections are probed after 10 s without bytes and end after 30 s without an answer. A
 * case therefore survives a network outage of 15 s.
 *
 * One thread calls these functions, except tree_fd, tree_poll and tree_has_silence, which
 * are for one other thread. The first failure is latched in tree->watch, and all later
 * calls fail with it. */
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
    struct rendezvous_client *store; /* borrowed until all ranks have joined */
    /* address at which other hosts reach this host; NULL: loopback */
    const char *address;
    const char *hostid;               /* NULL: hostid_text() */
    const atomic_int *stop;           /* may be NULL */
    int64_t timeout_ms;               /* time limit of the whole tree_create() */
    struct attempt_observer observer; /* receives reports of unreachable addresses */
};

struct tree_host {
    int leader,
        machine; /* the leader's rank; the machine's number, which its containers share */
    char address[256], port[8], interface[ATTEMPT_INTERFACE_MAX];
    struct segment_place segment;
    int first, n; /* the host's ranks: n entries of `order`, starting at `first` */
};

struct tree_link {
    int host, rank;
    int fd;         /* socket for operations */
    int notice_fd;  /* socket for notices of deaths */
    bool is_silent; /* the neighbor's silence was reported */
};

struct tree {
    int rank, world_size;
    struct watch watch;
    int n_hosts, host; /* number of hosts, and index of this rank's host */
    struct tree_host *hosts;
    int *host_of;      /* for each rank, the index of its host in `hosts` */
    int *order;        /* the ranks grouped by host, ascending within each host */
    int machine_ranks; /* ranks on this machine, in all its containers */
    bool is_local;     /* all ranks are on this host */
    struct segment segment;
    struct greeting_port port;
    /* neighbors; the parent, if any, comes first */
    struct tree_link links[1 + TREE_WAYS];
    int n_links;
    bool has_parent;
    int epoll_fd; /* watches everything that signals a death: pidfds and notice_fds */
    int *pidfds, n_pidfds;
    char *scratch;
    size_t scratch_len;
    uint64_t turn; /* number of operations so far */
};

/* Connect all ranks. A collective call. */
struct tree *tree_create(const struct tree_config *config, struct error *err);
/* After success, wait up to 5 s until all ranks call this. Then ranks may exit. */
void tree_leave(struct tree *tree);
/* Free the tree without waiting for peers. Accepts NULL. */
void tree_destroy(struct tree *tree);

int tree_barrier(struct tree *tree, struct error *err);
/* `all` receives world_size * len bytes in rank order. */
int tree_allgather(struct tree *tree, const void *mine, size_t len, void *all,
                   struct error *err);

/* The transports: "shm", "tcp", "shm, tcp", or "self" without peers. A new reference. */
json_t *tree_describe(const struct tree *tree);

/* Watchdog's thread: call tree_poll when this descriptor is readable. -1: no further loss
 * can be detected. */
int tree_fd(const struct tree *tree);
void tree_poll(struct tree *tree);
/* Watchdog's thread, about once a second. True if a neighbor became silent since the last
 * call; `text` then describes it. */
bool tree_has_silence(struct tree *tree, char *text, size_t size);

#endif
