/* SPDX-License-Identifier: Apache-2.0 */
/* ucx.h - transfer data between hosts over UCX, if available and selected
 *
 * Barriers and exchanges still use the control tree, so that a peer's death is noticed as
 * soon as without UCX. Ranks of one host still share memory. Only the communicator's
 * thread calls these functions. Source of the interface: UCX 1.13, header of the UCP
 * layer (streams). */
#ifndef RINGBENCH_WORKER_HOST_UCX_H
#define RINGBENCH_WORKER_HOST_UCX_H

#include "agent/worker/host/links.h"
#include "common/spec/run_spec.h"

struct ucx;

/* Replace the endpoints to other hosts by UCX. A collective call of all ranks of the
 * case. *out is NULL if sockets are used. This is so if the option is tcp, or if all
 * ranks are on this host. With auto, it is also so if a rank lacks UCX or an active RDMA
 * port. Return -1 if the option is ucx and UCX fails. */
int ucx_connect(struct links *links, enum host_transport asked, struct ucx **out,
                struct error *err);

/* After success, wait until all data is sent. Accepts NULL. */
void ucx_flush(struct ucx *ucx);
/* Does not wait. Accepts NULL. */
void ucx_destroy(struct ucx *ucx);

#endif
