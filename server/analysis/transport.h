/* transport.h - by which ways a case's bytes went, as NCCL's own log says or ranks of the
 * host backend: by pair of nodes, and what speaks against it */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"

#define TRANSPORT_PAIRS_MAX 4096 /* of nodes that are listed, by way */
#define TRANSPORT_WAYS_MAX 128
#define TRANSPORT_NODES_MAX 2048 /* of more a verdict says so */

struct transport_node {
    const char *name;
    const json_t *inventory; /* or NULL */
};

struct transport_input {
    /* [{"node": place in nodes, "log": that of event `nccl`}]; of the host backend it has
     * "rank", "ranks" and, as "transports", the worker's `ways`. */
    const json_t *logs;
    const struct transport_node *nodes;
    size_t n_nodes;
    json_t *env;                     /* variables that the job was given, or NULL */
    const struct host_options *host; /* of the host backend, as asked; NULL: NCCL's */
    const char *mark;                /* as verdict_json has it, or NULL */
};

/* {"by","nodes":[NAME],"ways":[{"kind","via","name","gdr","pxn","channels","sockets",
 * "threads","text","between","pairs":[[a,b]],"n_pairs","inside"}],"networks","version",
 * "channels","connected","init_s","settings","unread","verdicts"}, as docs/api.md has it.
 * A new object; NULL when there are no logs, or memory is out. */
json_t *transport_fold(const struct transport_input *input);

/* The same where no rank said anything, and why that may be. is_program: the ranks are a
 * program's, which may not use NCCL at all. */
json_t *transport_unheard(const struct transport_input *input, bool is_program);

/* The verdicts of kind `transport` on what was folded. A new array. */
json_t *transport_verdicts(const struct transport_input *input, const json_t *folded);

#endif
