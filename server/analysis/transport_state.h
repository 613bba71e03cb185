/* SPDX-License-Identifier: Apache-2.0 */
/* transport_state.h - internal structs of transport.h
 *
 * Reports are compacted on arrival. Equal texts and values are stored once, so that they
 * can be compared by address. Findings are detected on arrival, too. */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_STATE_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_STATE_H

#include <stdint.h>

#include "server/analysis/transport.h"

/* A communicator and the node of each rank. */
struct transport_comm {
    const char *id;
    int64_t ranks; /* number of ranks as reported; 0: unknown */
    size_t n;
    int *node_of;         /* by rank; -1: unknown */
    int64_t begun, ended; /* number of processes that reported the begin or end of init */
    bool has_links;
    /* The next two members are set after all ranks are placed. Consecutive ranks on the
     * same node form a block. */
    unsigned *block_of; /* block of each rank */
    int *block_nodes;
};

void transport_comm_place(struct transport_comm *comm, int64_t rank, int node);
void transport_comm_finish(struct transport_comm *comm);
void transport_comm_release(struct transport_comm *comm);

/* Progress of a communicator's init, as reported by the process. */
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

/* Peers of a transport that are resolved after the last report, from the logs of their
 * communicator. */
struct transport_peers {
    int way;
    const char *comm, *ranks; /* "1,8-15" */
};

struct transport_found {
    /* Object {"about","text"} for the verdict, with optional members. "hca": the hardware
     * that the finding names; if it is known, its description is inserted between "text"
     * and "rest". "is_echo": the finding is a consequence of another finding. "device":
     * the finding is about this HCA, with an unknown cause. */
    const json_t *what;
    const char *line; /* log line that proves the finding, or NULL */
    /* The finding is dropped if another process of the node receives with GPUDirect. */
    bool unless_receives;
};

/* The number of log lines, and the first of these lines. */
struct transport_lines {
    const json_t *first; /* the first lines, or NULL */
    int64_t n;
};

/* The report of one process. */
struct transport_report {
    int node;
    int64_t rank; /* determines the order of reports */
    struct transport_member *members;
    struct transport_peers *peers;
    struct transport_found *found;
    size_t n_members, n_peers, n_found, found_capacity;
    size_t n_first; /* number of findings that precede "odd_node" in the output */
    const char *network, *why; /* each may be NULL */
    bool by_sockets, receives;
    bool is_spread;      /* the communicator spans, or may span, several nodes */
    int64_t local_ranks; /* number of ranks on the node, as reported; 0: unknown */
    const char *hca;     /* name of the HCA in use, or NULL */
    bool has_more_hcas;  /* the process uses several HCAs */
    int64_t n_hcas;      /* number of the node's HCAs of that kind */
    int64_t n_channels;  /* number of channels over these HCAs */
    json_t *facts;       /* facts from take_facts() */
    struct transport_lines unread, late;
    double init_s;
};

struct transport_way {
    json_t *json; /* the transport's object, without texts and pairs */
    /* Pairs of nodes: lower << 32 | higher. transport_sort_pairs() drops duplicates. */
    uint64_t *pairs;
    size_t n_pairs, capacity;
};

#define TRANSPORT_LOWER(pair) ((size_t)((pair) >> 32))
#define TRANSPORT_HIGHER(pair) ((size_t)((pair)&UINT32_MAX))

struct transport {
    size_t n_nodes, max;
    const struct host_options *host; /* options of the host backend; NULL for NCCL */
    bool has_logs;
    struct transport_report *reports;
    size_t n_reports;
    json_t *report_at; /* index into reports, by process */
    /* The communicator over the case's own ranks, if known */
    struct transport_comm world;
    json_t *texts, *values; /* kept texts and values, keyed by their text */
    json_t **ports;         /* RDMA ports in each node's inventory, or NULL */
    struct transport_way ways[TRANSPORT_WAYS_MAX];
    size_t n_ways;
    json_t *way_at; /* index into ways, by kind, name and features */
};

/* Return the stored text or value that equals the argument (borrowed). Store the argument
 * if there is none. Return NULL for NULL. */
const char *transport_kept_text(struct transport *t, const char *text);
json_t *transport_kept(struct transport *t, json_t *value);

void transport_sort_pairs(struct transport_way *way);

void transport_add_pairs(struct transport *t, int way, int node,
                         const struct transport_comm *comm, const char *peers);

/* Detect problems in a process's transports and add them to `report`. */
void transport_look(struct transport *t, struct transport_report *report,
                    const json_t *inventory, const json_t *log);

/* Store a node's ports, unless they are already stored. */
void transport_see_ports(struct transport *t, size_t node, const json_t *inventory);

/* Return the `transport` verdicts for a result as a new array. order: indexes into
 * reports, ordered by node and rank. */
json_t *transport_verdicts(struct transport *t, const struct transport_input *input,
                           const size_t *order, const struct transport_comm *comms,
                           size_t n_comms, const json_t *folded);

#endif
