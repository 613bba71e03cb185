/* transport.h - by which ways NCCL sent a case's bytes, as its own log says: by pair of
 * nodes, and what speaks against it */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define TRANSPORT_PAIRS_MAX 4096 /* of nodes that are listed, by way */
#define TRANSPORT_WAYS_MAX 128
#define TRANSPORT_NODES_MAX 2048 /* of more a verdict says so */

struct transport_node {
    const char *name;
    const json_t *inventory; /* or NULL */
};

struct transport_input {
    const json_t *logs; /* [{"node": place in nodes, "log": that of event `nccl`}] */
    const struct transport_node *nodes;
    size_t n_nodes;
    json_t *env;      /* variables that the job was given, or NULL */
    const char *mark; /* as verdict_json has it, or NULL */
};

/* {"nodes":[NAME],"ways":[{"kind","via","name","gdr","pxn","channels","text","between","pairs":
 * [[a,b]],"n_pairs","inside"}],"networks","version","channels","connected","init_s",
 * "settings","unread","verdicts"}, as docs/api.md has it. A new object; NULL when there
 * are no logs, or memory is out. */
json_t *transport_fold(const struct transport_input *input);

/* The same where no rank said anything, and why that may be. is_program: the ranks are a
 * program's, which may not use NCCL at all. */
json_t *transport_unheard(const struct transport_input *input, bool is_program);

/* The verdicts of kind `transport` on what was folded. A new array. */
json_t *transport_verdicts(const struct transport_input *input, const json_t *folded);

#endif
