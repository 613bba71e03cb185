/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_lanes.h - which of UCX's transports and devices lead to a peer */
#ifndef RINGBENCH_WORKER_HOST_UCX_LANES_H
#define RINGBENCH_WORKER_HOST_UCX_LANES_H

#include <jansson.h>

/* What ucp_ep_print_info printed, since nothing else of UCX 1.13 tells: the lanes that
 * its streams take, as {"via": "ucx/rc_mlx5", "name": "mlx5_0"}; of a text that is of
 * another form {"via": "ucx"} alone. A new array. */
json_t *ucx_lanes(const char *text);

#endif
