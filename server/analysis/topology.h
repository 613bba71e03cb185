/* topology.h - whether NCCL takes a run's nodes to be alike, by the XML that it writes
 * (NCCL_TOPO_DUMP_FILE; NVIDIA/nccl, src/graph/xml.cc) */
#ifndef RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H
#define RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H

#include <jansson.h>
#include <stddef.h>

/* What a node wrote, borrowed. It is not trusted. */
struct topology_text {
    const char *node, *xml;
    size_t len;
};

/* {"verdict","kinds","unread"}: the verdict of kind `topology`; [{"nodes","xml"}], nodes
 * that are alike but for bus ids and other values that are each node's own, with the text
 * of its first node; [{"node","why"}]. mark: of verdict.h. A new object. */
json_t *topology_judge(const struct topology_text *texts, size_t n, const char *mark);

#endif
