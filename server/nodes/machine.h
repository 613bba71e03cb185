/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - describes the hardware and software of a run's nodes for the run's
 * document: properties that affect figures and can change although the node keeps its
 * name */
#ifndef RINGBENCH_SERVER_NODES_MACHINE_H
#define RINGBENCH_SERVER_NODES_MACHINE_H

#include "server/nodes/node.h"

/* Return the array `machines` (docs/reference/api.md) with one object for each kind of
 * machine: [{"hardware","versions","system","nodes":[names]}]. The objects are in the
 * order of their first nodes. nccl_lib: the library that the run requests, or NULL. The
 * array is new. */
json_t *machines_json(const struct node *const *nodes, size_t n, const char *nccl_lib);

/* Return a new object {"hardware","versions"} that describes a node without its name. */
json_t *machine_json(const struct node *node, const char *nccl_lib);

/* Return the GPUs on the node's bus, even those that NCCL cannot use, such as "8 x NVIDIA
 * H100". A new string; NULL if unknown. */
json_t *machine_gpus_json(const struct node *node);

#endif
