/* transport_state.h - the struct behind transport.h, for the files that make it up
 *
 * What a log says is made small when it comes: of texts and values that are equal one is
 * kept, so that equal ones have the same address, and what speaks against the ways is
 * found then. */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_STATE_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_STATE_H

#include <stdint.h>

#include "server/analysis/transport.h"

/* A communicator, and on which node each of its ranks is. */
struct transport_comm {
    const char *id;
    int64_t ranks; /* as it says; 0: it does not */
    size_t n;
    int *node_of;         /* by rank; -1: not known */
    int64_t begun, ended; /* processes that say so of their init */
    bool has_links;
    /* Once all are placed: ranks that follow each other on a node are a block. */
    unsigned *block_of; /* by rank */
    int *block_nodes;
};

void transport_comm_place(struct transport_comm *comm, int64_t rank, int node);
void transport_comm_finish(struct transport_comm *comm);
void transport_comm_release(struct transport_comm *comm);

/* How far a communicator's init got, as its process says. */
enum transport_init {
    TRANSPORT_INIT_UNKNOWN,
    TRANSPORT_INIT_BEGUN,
    TRANSPORT_INIT_FAILED,
    TRANSPORT_INIT_ENDED
};

struct transport_member {
    const char *comm;
    int64_t rank, ranks;
    enum transport_init init;
};

/* Peers of a way that stand where their communicator's logs will say. */
struct transport_peers {
    int way;
    const char *comm, *ranks; /* "1,8-15" */
};

struct transport_found {
    /* {"about","text"} as verdicts have it; with "hca", between "text" and "rest" stands
     * what that names, where it is known. With "is_echo" it follows from something else;
     * with "device" it is of that HCA, and nobody says why. */
    const json_t *what;
    const char *line;     /* of the log, or NULL */
    bool unless_receives; /* no finding where another of the node receives by GPUDirect */
};

/* Of which it keeps the first. */
struct transport_lines {
    const json_t *first; /* or NULL */
    int64_t n;
};

/* One process. */
struct transport_said {
    int node;
    int64_t rank; /* the order of what is told */
    struct transport_member *members;
    struct transport_peers *peers;
    struct transport_found *found;
    size_t n_members, n_peers, n_found, found_capacity;
    size_t n_first;            /* of these, before who goes another way than most */
    const char *network, *why; /* or NULL */
    bool by_sockets, receives;
    bool is_spread;      /* its communicator is of several nodes, or may be */
    int64_t local_ranks; /* of its node, as it says; 0: it does not */
    const char *hca;     /* the one that it uses, or NULL */
    bool has_more_hcas;  /* it uses several, */
    int64_t n_hcas;      /* of so many of that kind */
    int64_t n_channels;  /* over these */
    json_t *facts;       /* see take_facts() */
    struct transport_lines unread, late;
    double init_s;
};

struct transport_way {
    json_t *json; /* without its texts and pairs */
    /* Pairs of nodes, lower << 32 | higher; transport_sort_pairs() makes them unique. */
    uint64_t *pairs;
    size_t n_pairs, capacity;
};

#define TRANSPORT_LOWER(pair) ((size_t)((pair) >> 32))
#define TRANSPORT_HIGHER(pair) ((size_t)((pair)&UINT32_MAX))

struct transport {
    size_t n_nodes, max;
    const struct host_options *host; /* NULL: NCCL's */
    bool has_logs;
    struct transport_said *said;
    size_t n_said;
    json_t *said_at;             /* by process: its place in said */
    struct transport_comm world; /* the case's own ranks, where they are known */
    json_t *texts, *values;      /* each once, by its text */
    json_t **ports;              /* by node: RDMA ports of its inventory, or NULL */
    struct transport_way ways[TRANSPORT_WAYS_MAX];
    size_t n_ways;
    json_t *way_at; /* by what tells ways apart: its place in ways */
};

/* The one that is kept of equal texts, and of equal values (borrowed). NULL: NULL. */
const char *transport_kept_text(struct transport *t, const char *text);
json_t *transport_kept(struct transport *t, json_t *value);

void transport_sort_pairs(struct transport_way *way);

void transport_add_pairs(struct transport *t, int way, int node,
                         const struct transport_comm *comm, const char *peers);

/* What speaks against the ways of a process, into `said`. */
void transport_look(struct transport *t, struct transport_said *said,
                    const json_t *inventory, const json_t *log);

/* Keep the ports of a node, if they are not kept yet. */
void transport_see_ports(struct transport *t, size_t node, const json_t *inventory);

/* The verdicts of kind `transport` on what was folded; order: places of said, by node and
 * rank. A new array. */
json_t *transport_verdicts(struct transport *t, const struct transport_input *input,
                           const size_t *order, const struct transport_comm *comms,
                           size_t n_comms, const json_t *folded);

#endif
