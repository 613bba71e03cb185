/* SPDX-License-Identifier: Apache-2.0 */
/* node_devices.h - whether a node has the GPUs and the NCCL libraries that a run names */
#ifndef RINGBENCH_SERVER_NODES_NODE_DEVICES_H
#define RINGBENCH_SERVER_NODES_NODE_DEVICES_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Whether the run names any. */
bool node_devices_matter(const struct run_spec *spec);

/* How many of the node's `offered` GPUs the run can have; 0 after saying why none. */
long node_devices(const struct node *node, const struct run_spec *spec, long offered,
                  struct buf *refused);

/* The number of the device that local rank k of the node gets; -1: the k-th. */
int node_device_of(const struct run_spec *spec, const char *node, int k);

#endif
