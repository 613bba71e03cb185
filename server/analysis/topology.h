/* topology.h - whether NCCL takes a run's nodes to be alike */
#ifndef RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H
#define RINGBENCH_SERVER_ANALYSIS_TOPOLOGY_H

#include <jansson.h>
#include <stddef.h>

/* What a node wrote, borrowed. */
struct topology_text {
    const char *node, *xml;
    size_t len;
};

/* {"verdict","kinds","unread"}: the verdict of kind `topology`; [{"nodes","tree"}], those
 * that are alike but for bus ids and other numbers that are each node's own, the most
 * frequent first, with the tree of the first of them; [{"node","why"}]. mark: of
 * verdict.h. A new object; NULL when memory is out. */
json_t *topology_judge(const struct topology_text *texts, size_t n, const char *mark);

#endif
