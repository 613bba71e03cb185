/* SPDX-License-Identifier: Apache-2.0 */
/* transport_findings.h - collects transport findings, for the files that detect them */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H

#include "common/base/buf.h"
#include "server/analysis/transport_state.h"

#define TRANSPORT_LINES_QUOTED 4
#define TRANSPORT_NODES_NAMED 4
#define TRANSPORT_WHAT_MAX 600
#define TRANSPORT_NAME_MAX 200
#define TRANSPORT_FINDINGS_MAX 64

/* A sentence and the nodes that it applies to, in order. */
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
    const size_t *order; /* of t->reports, by node and rank */
    const struct transport_comm *comms;
    size_t n_comms;
    const json_t *names; /* of the nodes */
    struct transport_finding all[TRANSPORT_FINDINGS_MAX];
    size_t n;
    bool *receives; /* by node: whether it receives with GPUDirect */
};

/* Return the finding for a kept value (transport_kept()), and create it if needed. NULL
 * if there are too many. */
struct transport_finding *transport_finding_with(struct findings *findings,
                                                 const json_t *what);

/* Return the finding for a text that did not come from a single process. */
struct transport_finding *transport_finding_of(struct findings *findings,
                                               const char *about, const char *text);

/* Return true if a transport leaves the node, or may do so. */
bool transport_is_network(const struct transport *t, const json_t *way);

/* Add a node or a line to a finding, each once. NULL is ignored. */
void transport_finding_node(struct transport_finding *one, int node);
void transport_finding_line(struct transport_finding *one, const char *line);

/* Return the quoted log lines as a new array. */
json_t *transport_lines_json(const struct transport_finding *one);

/* Report nodes whose settings, HCAs, versions or interfaces differ from most others, and
 * nodes that use only one of several HCAs. */
void transport_differ(struct findings *findings);

/* Return true if the node lists no HCA of this name, and fewer HCAs than the other
 * node. */
bool transport_lacks_hca(const struct transport *t, int node, int other,
                         const char *name);

/* Report ranks that are missing while the others of their communicator wait. */
void transport_absent(struct findings *findings);

/* Return true if the log is from a version of NCCL that is not judged, and write its
 * name. */
bool transport_foreign(const struct findings *findings, char out[TRANSPORT_NAME_MAX]);

/* Return the verdict if there is no finding: the transports, or that they are unknown.
 * foreign: the name from transport_foreign(), or NULL. */
json_t *transport_ways_verdict(const struct findings *findings, const json_t *folded,
                               const char *foreign);

#endif
