/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - what this host is: names, processors, memory, network devices */
#ifndef RINGBENCH_AGENT_INVENTORY_INVENTORY_H
#define RINGBENCH_AGENT_INVENTORY_INVENTORY_H

#include <hwloc.h>
#include <jansson.h>
#include <stdbool.h>

/* A new object as docs/development/agent-protocol.md has it, without `backends` and what
 * NCCL is told here. `root` is put before every path ("" for the host itself). Members
 * that can't be read are absent, null or 0. */
json_t *inventory_read(const char *root);

/* Set `nccl_conf` and `nccl_env`: what NCCL finds in files, and in the environment (ended
 * by NULL; NULL: none) that workers get of the agent's. */
void inventory_add_nccl(json_t *inventory, const char *root, char *const *environment);

/* Set `backends`, what the workers' probes said. What the driver says of GPUs joins what
 * the bus says of them. Set `gpus_usable` if there are GPUs and CUDA counted them.
 * Returns whether `backends` has changed. */
bool inventory_add_probed(json_t *inventory, json_t *backends);

/* Whether a backend can't be used here that may be later: NCCL's only with GPUs. */
bool inventory_lacks_backend(const json_t *inventory);

/* The parts, for tests. */
/* `cpu` and `numa_nodes`. */
void inventory_add_cpu(json_t *inventory, hwloc_topology_t topology, const char *root);
json_t *inventory_os(const char *root); /* name and version, or null */
json_int_t inventory_memory_bytes(const char *root);
json_t *inventory_addresses(void); /* of interfaces that are up; loopback last */
json_t *inventory_hostid(const char *root);
/* addresses: as above. *left_out: how many had no room. */
json_t *inventory_net(const char *root, json_t *addresses, int *left_out);
json_t *inventory_rdma(const char *root, int *left_out);
json_t *inventory_limits(const char *root);
json_t *inventory_modules(const char *root); /* name: version, "" where it says none */
void inventory_add_system(json_t *inventory, const char *root);

#endif
