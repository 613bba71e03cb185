/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_lanes.h - find the transports and devices that UCX uses to a peer */
#ifndef RINGBENCH_WORKER_HOST_UCX_LANES_H
#define RINGBENCH_WORKER_HOST_UCX_LANES_H

#include <jansson.h>

/* Parse the output of ucp_ep_print_info, the only source of this information in UCX 1.13.
 * Returns a new array of the lanes that streams use, as {"via": "ucx/rc_mlx5", "name":
 * "mlx5_0"}. If the text is in another format, the array contains only {"via": "ucx"}. */
json_t *ucx_lanes(const char *text);

#endif
