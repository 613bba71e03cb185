/* SPDX-License-Identifier: Apache-2.0 */
/* pci.h - where a device is on the PCI bus, and how fast its link is */
#ifndef RINGBENCH_AGENT_INVENTORY_PCI_H
#define RINGBENCH_AGENT_INVENTORY_PCI_H

#include <hwloc.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Set `pci`, `numa`, `cpus`, `pcie` and `acs` of what root + dir is or belongs to, as far
 * as they are known. Nothing where it is no PCI device. */
void pci_describe(json_t *object, const char *root, const char *dir);

/* A new array of the GPUs that NCCL can use, each with the same, in the order of the bus.
 */
json_t *pci_gpus(hwloc_topology_t topology, const char *root);

/* 1: a bridge with this configuration space sends what its devices say to each other by
 * way of the root complex (access control services); 0: it does not; -1: the kernel gave
 * too little of it, as to all but root. */
int pci_redirects(const uint8_t *config, size_t len);

#endif
