/* transport_findings.h - findings as they are gathered, for the files that look for them
 */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_FINDINGS_H

#include "common/base/buf.h"
#include "server/analysis/transport_state.h"

#define TRANSPORT_LINES_QUOTED 4
#define TRANSPORT_NODES_NAMED 4
#define TRANSPORT_WHAT_MAX 600
#define TRANSPORT_NAME_MAX 200
#define TRANSPORT_FINDINGS_MAX 64

/* A sentence, with the nodes that it holds for, in their order. */
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
    const size_t *order; /* of t->said, by node and rank */
    const struct transport_comm *comms;
    size_t n_comms;
    const json_t *names; /* of the nodes */
    struct transport_finding all[TRANSPORT_FINDINGS_MAX];
    size_t n;
    bool *receives; /* by GPUDirect, by node */
};

/* The finding of a kept value (transport_kept), made if it is new; NULL: there are too
 * many. */
struct transport_finding *transport_finding_with(struct findings *findings,
                                                 const json_t *what);

/* The same of what no single process said. */
struct transport_finding *transport_finding_of(struct findings *findings,
                                               const char *about, const char *text);

/* Whether a way leaves the node, or may. */
bool transport_is_network(const struct transport *t, const json_t *way);

/* Each node once. NULL is fine. */
void transport_finding_node(struct transport_finding *one, int node);
void transport_finding_line(struct transport_finding *one, const char *line);

/* The lines of the log that a finding quotes. A new array. */
json_t *transport_lines_json(const struct transport_finding *one);

/* Nodes whose settings, HCAs, versions or interfaces are not as most others', and those
 * that use one HCA of several. */
void transport_differ(struct findings *findings);

/* Whether the node lists no HCA of this name, and fewer than the other has. */
bool transport_lacks_hca(const struct transport *t, int node, int other,
                         const char *name);

/* Ranks of which nothing is there while the others of their communicator wait. */
void transport_absent(struct findings *findings);

/* The version of NCCL whose log is not judged; false where it is. */
bool transport_foreign(const struct findings *findings, char out[TRANSPORT_NAME_MAX]);

/* Where there is no finding: by which ways, or that they are not known. foreign: as
 * above, or NULL. */
json_t *transport_ways_verdict(const struct findings *findings, const json_t *folded,
                               const char *foreign);

#endif
