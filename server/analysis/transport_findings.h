/* SPDX-License-Identifier: Apache-2.0 */
/* transport_findings.h - collects findings from the transport_*.c files that detect
 * problems */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H

#include "common/base/buf.h"
#include "server/analysis/transport_state.h"

#define TRANSPORT_LINES_QUOTED 4
#define TRANSPORT_NODES_NAMED 4
#define TRANSPORT_WHAT_MAX 600
#define TRANSPORT_NAME_MAX 200
#define TRANSPORT_FINDINGS_MAX 64

/* A finding's sentence and the nodes to which it applies, in order. */
struct transport_finding {
    const json_t *what;
    int *nodes;
    size_t n_nodes;
    const char *lines[TRANSPORT_LINES_QUOTED];
    size_t n_lines;
};

struct findings {
    struct transport *t;
    const struct transport_input *input;
    const size_t *order; /* indexes into t->reports, by node and rank */
    const struct transport_comm *comms;
    size_t n_comms;
    const json_t *names; /* names of the nodes */
    struct transport_finding all[TRANSPORT_FINDINGS_MAX];
    size_t n;
    bool *receives; /* by node: true if the node receives with GPUDirect */
};

/* Return the finding for a kept value (transport_kept()), and create it if needed. Return
 * NULL if there are too many findings. */
struct transport_finding *transport_finding_with(struct findings *findings,
                                                 const json_t *what);

/* Return the finding for a text that does not come from a single process. */
struct transport_finding *transport_finding_of(struct findings *findings,
                                               const char *about, const char *text);

/* Return true if a transport leaves the node, or may leave the node. */
bool transport_is_network(const struct transport *t, const json_t *way);

/* Add a node or a log line to a finding, unless already added. NULL is ignored. */
void transport_finding_node(struct transport_finding *one, int node);
void transport_finding_line(struct transport_finding *one, const char *line);

/* Return the quoted log lines as a new array. */
json_t *transport_lines_json(const struct transport_finding *one);

/* Report nodes whose settings, HCAs, versions or interfaces differ from most other nodes,
 * and nodes that use only one of several HCAs. */
void transport_differ(struct findings *findings);

/* Return true if the node lacks the HCA and lists fewer HCAs than the other node. */
bool transport_lacks_hca(const struct transport *t, int node, int other,
                         const char *name);

/* Report ranks that are missing while the other ranks of their communicator wait. */
void transport_absent(struct findings *findings);

/* Return true if the log comes from a version of NCCL that is not supported, and write
 * the version's name to `out`. */
bool transport_foreign(const struct findings *findings, char out[TRANSPORT_NAME_MAX]);

/* Return the verdict for a case without findings, which lists the transports or states
 * that they are unknown. foreign: the name from transport_foreign(), or NULL. */
json_t *transport_ways_verdict(const struct findings *findings, const json_t *folded,
                               const char *foreign);

#endif
