/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - reads processors, memory domains and PCI devices with hwloc */
#include "agent/bind/topology.h"

#include <stdbool.h>
#include <stdlib.h>

/* Exclude hwloc's component x86, which would bind this thread to one CPU after another.
 */
static int load(hwloc_topology_t topology)
{
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                      "x86") ||
        hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE,
                                       HWLOC_TYPE_FILTER_KEEP_IMPORTANT))
        return -1;
    return hwloc_topology_load(topology);
}

/* Without plugins, hwloc reads PCI devices from /sys. Plugins would load GPU libraries,
 * which an agent must not call. hwloc reads HWLOC_PLUGINS_PATH only once. */
hwloc_topology_t topology_load(const char *root)
{
    bool had_path = getenv("HWLOC_PLUGINS_PATH") != NULL;
    hwloc_topology_t topology;

    if (!had_path)
        setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    if (root[0])
        setenv("HWLOC_FSROOT", root, 1);
    if (hwloc_topology_init(&topology)) {
        topology = NULL;
    } else if (load(topology)) {
        hwloc_topology_destroy(topology);
        topology = NULL;
    }
    if (root[0])
        unsetenv("HWLOC_FSROOT");
    if (!had_path)
        unsetenv("HWLOC_PLUGINS_PATH");
    return topology;
}
