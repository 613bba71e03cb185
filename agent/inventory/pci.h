/* pci.h - where a device is on the PCI bus, and how fast its link is */
#ifndef RINGBENCH_AGENT_INVENTORY_PCI_H
#define RINGBENCH_AGENT_INVENTORY_PCI_H

#include <jansson.h>

/* Set `pci`, `numa`, `cpus` and `pcie` of what root + dir is or belongs to, as far as
 * they are known. Nothing where it is no PCI device. */
void pci_describe(json_t *object, const char *root, const char *dir);

#endif
