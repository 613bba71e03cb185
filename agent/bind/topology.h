/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - reads processors, memory domains and PCI devices with hwloc */
#ifndef RINGBENCH_AGENT_BIND_TOPOLOGY_H
#define RINGBENCH_AGENT_BIND_TOPOLOGY_H

#include <hwloc.h>

/* The topology of this host (root ""), or of the folder `root` used as /. NULL if hwloc
 * finds none. */
hwloc_topology_t topology_load(const char *root);

#endif
