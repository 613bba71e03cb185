/* topology_read.h - what NCCL takes a node to be, out of the XML that it writes
 * (NCCL_TOPO_DUMP_FILE; NVIDIA/nccl, src/graph/xml.cc): it comes from nodes, so nothing
 * of it is trusted */
#ifndef RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_READ_H
#define RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_READ_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"

#define TOPOLOGY_DEPTH_MAX 32
#define TOPOLOGY_PARTS_MAX 8192

/* Parts in parts: {"kind","name","bus","link","speed","nvlinks","gdr","device","parts"},
 * each as far as it is said. `kind`: system, socket, switch, gpu, nic, device. A GPU and
 * a NIC are one part with the PCI device that they are; `link` is that device's own to
 * what stands above it. NULL with the reason: no XML, no topology, or too large. */
json_t *topology_read(const char *xml, size_t len, struct error *err);

#endif
