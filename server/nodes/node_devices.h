/* SPDX-License-Identifier: Apache-2.0 */
/* node_devices.h - whether a node has the GPUs and NCCL libraries that a run requests */
#ifndef RINGBENCH_SERVER_NODES_NODE_DEVICES_H
#define RINGBENCH_SERVER_NODES_NODE_DEVICES_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Return whether the run requests certain GPUs or NCCL libraries. */
bool node_devices_matter(const struct run_spec *spec);

/* Return how many of the node's `offered` GPUs the run can use; 0 after stating the
 * reason. */
long node_devices(const struct node *node, const struct run_spec *spec, long offered,
                  struct buf *refused);

/* Return the number of the device for the node's local rank k; -1: the k-th device. */
int node_device_of(const struct run_spec *spec, const char *node, int k);

#endif
