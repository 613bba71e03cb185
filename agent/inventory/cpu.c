/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c - reads processors and memory domains */
#include <stdio.h>
#include <string.h>

#include "agent/inventory/inventory.h"
#include "agent/machine/host_file.h"
#include "common/base/clean_text.h"

/* The model is "model name" on x86 and "cpu" on POWER. ARM reports two numbers, which
 * hwloc 2.9 does not read on aarch64. */
static json_t *read_model(const char *root)
{
    static const char file[] = "/proc/cpuinfo";
    char text[512], implementer[64], part[64];

    if (!host_file_value(root, file, "model name", ':', text, sizeof(text)) &&
        !host_file_value(root, file, "cpu", ':', text, sizeof(text))) {
        if (!host_file_value(root, file, "CPU implementer", ':', implementer,
                             sizeof(implementer)) ||
            !host_file_value(root, file, "CPU part", ':', part, sizeof(part)))
            return json_null();
        snprintf(text, sizeof(text), "ARM implementer %s part %s", implementer, part);
    }
    return clean_text_json(text, strlen(text));
}

void inventory_add_cpu(json_t *inventory, hwloc_topology_t topology, const char *root)
{
    json_object_set_new(
        inventory, "cpu",
        json_pack("{s:o, s:i, s:i, s:i}", "model", read_model(root), "sockets",
                  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE), "cores",
                  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), "threads",
                  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU)));
    json_object_set_new(
        inventory, "numa_nodes",
        json_integer(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE)));
}
