/* SPDX-License-Identifier: Apache-2.0 */
/* node_devices.h - checks that a node offers the GPUs and NCCL libraries that a run
 * requests */
#ifndef RINGBENCH_SERVER_NODES_NODE_DEVICES_H
#define RINGBENCH_SERVER_NODES_NODE_DEVICES_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/spec/run_spec.h"
#include "server/nodes/node.h"

/* Return true if the run requests certain GPUs or NCCL libraries. */
bool node_devices_matter(const struct run_spec *spec);

/* Return the number of the node's `offered` GPUs that the run can use, or 0 after
 * appending the reason to *refused. */
long node_devices(const struct node *node, const struct run_spec *spec, long offered,
                  struct buf *refused);

/* Return the index of the GPU for local rank k of the node; -1 if the spec does not set
 * it. */
int node_device_of(const struct run_spec *spec, const char *node, int k);

#endif
