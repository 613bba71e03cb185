/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h - compares the topologies that NCCL detected on a run's nodes, from the XML
 * that NCCL writes (NCCL_TOPO_DUMP_FILE; NVIDIA/nccl, src/graph/xml.cc) */
#ifndef RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H
#define RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H

#include <jansson.h>
#include <stddef.h>

/* A node's XML, borrowed. The XML is not trusted. */
struct topology_text {
    const char *node, *xml;
    size_t len;
};

/* Return a new object {"verdict","kinds","unread"}. verdict: of kind `topology`. kinds:
 * [{"nodes","xml"}], one entry for all nodes that are equal apart from bus ids and other
 * values specific to a node, with the first node's XML. unread: [{"node","why"}]. mark:
 * suffix of the sentence, see verdict.h. */
json_t *topology_judge(const struct topology_text *texts, size_t n, const char *mark);

#endif
