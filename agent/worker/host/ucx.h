/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.h - collectives between hosts over UCX, where it is and is wanted
 *
 * Barriers and exchanges go over the control tree, which tells that a peer is gone as
 * soon as without UCX. Ranks of one host go on sharing memory. One thread, the
 * communicator's. Source of the interface: UCX 1.13, its header of the UCP layer
 * (streams). */
#ifndef RINGBENCH_WORKER_HOST_UCX_H
#define RINGBENCH_WORKER_HOST_UCX_H

#include "agent/worker/host/links.h"
#include "common/spec/run_spec.h"

struct ucx;

/* Collective, over all ranks of the case. *out: with the endpoints to other hosts
 * replaced, or NULL where sockets do: they are asked for, all ranks are on this host, or
 * (auto) a rank has no active RDMA port or no UCX. -1: it is asked for and cannot be had.
 */
int ucx_connect(struct links *links, enum host_transport asked, struct ucx **out,
                struct error *err);

/* If nothing failed, wait until what was sent has left. NULL is fine. */
void ucx_flush(struct ucx *ucx);
/* Without waiting. NULL is fine. */
void ucx_destroy(struct ucx *ucx);

#endif
