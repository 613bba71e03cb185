/* hub_join.h - how the ranks get their connections to rank 0 (used by hub.c) */
#ifndef RINGBENCH_WORKER_SIM_HUB_JOIN_H
#define RINGBENCH_WORKER_SIM_HUB_JOIN_H

#include "agent/worker/sim/hub.h"

struct hub_peer {
    int fd;      /* -1: not connected */
    size_t done; /* bytes of the message under way */
};

struct hub {
    int rank, world_size;
    const atomic_int *stop;
    struct hub_peer *peers; /* by rank; but for rank 0 only peers[0] is connected */
    int epoll_fd;           /* of the connections */
    uint64_t turn;          /* operations so far */
    int lost;
    struct error error; /* once failed */
};

/* Fill peers and epoll_fd of a hub that is otherwise set up. */
int hub_join(struct hub *hub, const struct hub_config *config, struct error *err);

/* Latch a failure; the first one stands. -1. */
int hub_fail(struct hub *hub, enum error_code code, const char *text);
/* Latch the loss of `rank`; errnum 0: it closed the connection. -1. */
int hub_lose(struct hub *hub, int rank, int errnum);
/* -1 (latched) if told to stop. */
int hub_check_stop(struct hub *hub);

#endif
