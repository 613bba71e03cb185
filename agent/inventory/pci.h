/* SPDX-License-Identifier: Apache-2.0 */
/* pci.h - describes a device's place on the PCI bus, its link speed and access control */
#ifndef RINGBENCH_AGENT_INVENTORY_PCI_H
#define RINGBENCH_AGENT_INVENTORY_PCI_H

#include <hwloc.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Set `pci`, `numa`, `cpus`, `pcie` and `acs`, as far as known, for the PCI device at or
 * above root + dir. Without such a device nothing is set. */
void pci_describe(json_t *object, const char *root, const char *dir);

/* Return a new array of the NVIDIA GPUs in bus order, with the members of pci_describe.
 */
json_t *pci_gpus(hwloc_topology_t topology, const char *root);

/* Returns 1 if a bridge with this configuration space redirects traffic between its
 * devices to the root complex (access control services), else 0. Returns -1 if the
 * configuration space is incomplete, as for users other than root. */
int pci_redirects(const uint8_t *config, size_t len);

#endif
