/* SPDX-License-Identifier: Apache-2.0 */
/* transport_kind.h - determines the kinds of networks and their names */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_KIND_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_KIND_H

#include "server/analysis/transport.h"

/* Return the kind of an interface for sockets, as documented in docs/reference/api.md.
 * The kind comes from the inventory, or else from the interface's name. The text is
 * static. */
const char *transport_net_kind(const struct transport_node *node, const char *name);

/* Return the documented kind of a transport's RDMA device, from NCCL's log or else from
 * the inventory. The text is static. */
const char *transport_rdma_kind(const struct transport_node *node, const json_t *way);

/* Return a kind's display name. The text is static. */
const char *transport_kind_text(const char *kind);

/* Return a kind's index in the list of kinds, which is ordered from fastest to slowest.
 * An unknown kind is last. */
int transport_kind_place(const char *kind);

/* Return the documented kind of a transport of the host backend, or NULL for a transport
 * of NCCL. The text is static. */
const char *transport_host_kind(const struct transport_node *node, const json_t *way);

/* Return a new string such as "sockets over Ethernet eth0, 4 per pair of ranks", or NULL
 * for a transport of NCCL. `way` must contain its kind. */
json_t *transport_host_text(const json_t *way);

#endif
