/* transport_host.h - the ways of the host backend: its sockets, UCX, shared memory */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_HOST_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_HOST_H

#include <stdbool.h>

#include "server/analysis/transport.h"

/* The word of docs for a way that a rank of this node names; NULL: it is one of NCCL's.
 * Static. */
const char *transport_host_kind(const struct transport_node *node, const json_t *way);

/* "sockets over Ethernet eth0, 4 per pair of ranks": of a way with its kind. A
 * new string; NULL: it is one of NCCL's. */
json_t *transport_host_text(const json_t *way);

/* Whether it is none of shared memory. */
bool transport_host_leaves(const json_t *way);

#endif
