/* ucx.h - collectives between hosts over UCX, where it is and is wanted
 *
 * The mesh's sockets stay: barriers and exchanges go over them, and they tell that a peer
 * is gone as soon as without UCX. Ranks of one host go on sharing memory. One thread, the
 * communicator's. Source of the interface: UCX 1.13, its header of the UCP layer
 * (streams). */
#ifndef RINGBENCH_WORKER_HOST_UCX_H
#define RINGBENCH_WORKER_HOST_UCX_H

#include "agent/worker/group/mesh.h"
#include "common/spec/run_spec.h"

struct ucx;

/* Collective. *out: with the mesh's data endpoints replaced, or NULL where sockets do:
 * they are asked for, all ranks are on this host, or (auto) a rank has no active RDMA
 * port or no UCX. -1: it is asked for and cannot be had. */
int ucx_connect(struct mesh *mesh, enum host_transport asked, struct ucx **out,
                struct error *err);

/* NULL is fine. If nothing failed, all ranks together: nothing is under way afterwards.
 */
void ucx_destroy(struct ucx *ucx);
/* Without waiting. */
void ucx_abort(struct ucx *ucx);

#endif
