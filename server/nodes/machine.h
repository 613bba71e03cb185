/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what a run's nodes are and what runs on them, for the run's document: what
 * a figure may depend on, besides the spec, and what may change while the names stay */
#ifndef RINGBENCH_SERVER_NODES_MACHINE_H
#define RINGBENCH_SERVER_NODES_MACHINE_H

#include "server/nodes/node.h"

/* `machines` of docs/reference/api.md: an object for each kind of machine among the
 * nodes, in the order of its first: [{"hardware","versions","system","nodes":[names]}].
 * nccl_lib: the library that the run asks for, or NULL. A new array. */
json_t *machines_json(const struct node *const *nodes, size_t n, const char *nccl_lib);

/* Of one node, without names: {"hardware","versions"}. A new reference. */
json_t *machine_json(const struct node *node, const char *nccl_lib);

/* The GPUs on its bus, whether NCCL can use them or not: "8 x NVIDIA H100". A new
 * string; NULL: none are known. */
json_t *machine_gpus_json(const struct node *node);

#endif
