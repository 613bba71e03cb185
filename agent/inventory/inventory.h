/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - collects the inventory of this host: names, processors, memory, network
 * devices */
#ifndef RINGBENCH_AGENT_INVENTORY_INVENTORY_H
#define RINGBENCH_AGENT_INVENTORY_INVENTORY_H

#include <hwloc.h>
#include <jansson.h>
#include <stdbool.h>

/* Returns a new object (docs/development/agent-protocol.md) without `backends`,
 * `nccl_conf` and `nccl_env`. `root` is the prefix of every path, "" for the host itself.
 * Members that cannot be read are absent, null or 0. */
json_t *inventory_read(const char *root);

/* Set `nccl_conf` and `nccl_env`: NCCL's settings in files and in the environment that
 * workers inherit. The environment ends with NULL, or is NULL. */
void inventory_add_nccl(json_t *inventory, const char *root, char *const *environment);

/* Set `backends` to the results of the workers' probes. Add the driver's data to the GPUs
 * that were found on the bus. Set `gpus_usable` if there are GPUs and CUDA counted them.
 * Returns true if `backends` has changed. */
bool inventory_add_probed(json_t *inventory, json_t *backends);

/* True if a probe may find another backend later. NCCL counts only on a machine with
 * GPUs. */
bool inventory_lacks_backend(const json_t *inventory);

/* The functions below are public only for tests. */
/* Set `cpu` and `numa_nodes`. */
void inventory_add_cpu(json_t *inventory, hwloc_topology_t topology, const char *root);
json_t *inventory_os(const char *root); /* name and version, or null */
json_int_t inventory_memory_bytes(const char *root);
/* Return the addresses of interfaces that are up, with loopback last. */
json_t *inventory_addresses(void);
json_t *inventory_hostid(const char *root);
/* `addresses` comes from inventory_addresses. *left_out receives the number of interfaces
 * above the limit. */
json_t *inventory_net(const char *root, json_t *addresses, int *left_out);
json_t *inventory_rdma(const char *root, int *left_out);
void inventory_add_system(json_t *inventory, const char *root);

#endif
