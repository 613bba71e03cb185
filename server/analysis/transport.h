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

struct transport_node {
    const char *name;
    const json_t *inventory; /* or NULL */
};

struct transport_input {
    const struct transport_node *nodes;
    size_t n_nodes;
    json_t *env;      /* variables that the job was given, or NULL */
    const char *mark; /* as verdict_json has it, or NULL */
    bool is_of_file;  /* which may lack the log of some processes */
};

/* Who tells: a process of a rank of the case, or one by any number of its own. */
struct transport_speaker {
    int rank;
    int node;                /* its place */
    const json_t *inventory; /* of the node, or NULL; not kept */
};

/* What the processes of a case tell, and what it comes to. */
struct transport;

/* max: processes that are heard. host: of the host backend, as asked, borrowed; NULL:
 * NCCL's. */
struct transport *transport_create(size_t n_nodes, size_t max,
                                   const struct host_options *host);
void transport_destroy(struct transport *t);

/* The node of a rank of the case, before the first tells, where the number of a rank is
 * that of its communicator over all of them: peers are looked up at once then, and else
 * in the end. */
void transport_place(struct transport *t, int rank, int node);

/* What a process has told, the `log` of event `nccl`; of the host backend an object of
 * "rank", "ranks" and, as "transports", the worker's `ways`. The last that it tells
 * counts. */
void transport_take(struct transport *t, const struct transport_speaker *speaker,
                    const json_t *log);

/* {"by","nodes":[NAME],"ways":[{"kind","via","name","gdr","pxn","channels","sockets",
 * "text","between","pairs":[[a,b]],"n_pairs","inside"}],"networks","version",
 * "channels","connected","init_s","settings","unread","late_warnings","verdicts"}, as
 * docs/reference/api.md has it. A new object; NULL when there are no logs. */
json_t *transport_fold(struct transport *t, const struct transport_input *input);

/* The same where no rank said anything, and why that may be. is_program: the ranks are a
 * program's, which may not use NCCL at all. */
json_t *transport_unheard(const struct transport_input *input, bool is_program);

/* A line without pointers and ports, which differ by process: one fault is one text. */
void transport_strip_numbers(const char *text, char *out, size_t size);

#endif
