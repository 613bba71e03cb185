/* transport_kind.h - what a network is, and what that is called */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_KIND_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_KIND_H

#include "server/analysis/transport.h"

/* The word of docs for the interface that a node's sockets go over: of the inventory, or
 * as interfaces are called. Static. */
const char *transport_net_kind(const struct transport_node *node, const char *name);

/* The same for an RDMA device of a way: as NCCL says, or the inventory. Static. */
const char *transport_rdma_kind(const struct transport_node *node, const json_t *way);

/* What a kind is called. Static. */
const char *transport_kind_text(const char *kind);

/* Its place among those that there are, the fastest first; one that is not there is the
 * last. */
int transport_kind_place(const char *kind);

/* The word of docs for a way that a rank of this node names; NULL: it is one of NCCL's.
 * Static. */
const char *transport_host_kind(const struct transport_node *node, const json_t *way);

/* "sockets over Ethernet eth0, 4 per pair of ranks": of a way with its kind. A
 * new string; NULL: it is one of NCCL's. */
json_t *transport_host_text(const json_t *way);

#endif
