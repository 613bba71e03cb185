/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - determines the transports that a case used, by pair of nodes, from NCCL's
 * log or the reports of the host backend's ranks, and finds problems with these
 * transports */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"

/* Maximum number of pairs of nodes listed for each transport */
#define TRANSPORT_PAIRS_MAX 4096
#define TRANSPORT_WAYS_MAX 128

struct transport_node {
    const char *name;
    const json_t *inventory; /* the node's inventory, or NULL */
};

struct transport_input {
    const struct transport_node *nodes;
    size_t n_nodes;
    json_t *env;      /* variables set for the job, or NULL */
    const char *mark; /* suffix of sentences, see verdict_json(); or NULL */
    /* The logs come from a file, which may lack the logs of some processes */
    bool is_of_file;
};

/* The process that sent a log. rank: the process's rank in the case, or another unique
 * number. */
struct transport_speaker {
    int rank;
    int node;                /* index of the process's node */
    const json_t *inventory; /* inventory of that node, or NULL; not kept */
};

/* The reports of a case's processes. */
struct transport;

/* max: maximum number of processes. host: options of the host backend, borrowed; NULL for
 * NCCL. */
struct transport *transport_create(size_t n_nodes, size_t max,
                                   const struct host_options *host);
void transport_destroy(struct transport *t);

/* Set the node of a rank. Call before the first report, and only if the case's rank
 * numbers are those of one communicator over all ranks. With known nodes, peers are
 * resolved when a report arrives, otherwise at the end. */
void transport_place(struct transport *t, int rank, int node);

/* Add a process's report. For NCCL, the report is the `log` of an `nccl` event. For the
 * host backend, it is an object with "rank", "ranks" and "transports", which holds the
 * worker's `ways`. A later report replaces an earlier one of the same process. */
void transport_take(struct transport *t, const struct transport_speaker *speaker,
                    const json_t *log);

/* Return the result as a new object (docs/reference/api.md), or NULL if there are no
 * logs: {"by","nodes":[NAME],
 * "ways":[{"kind","via","name","gdr","pxn","channels","sockets","text","between","pairs":
 * [[a,b]],"n_pairs","inside"}],"networks","version","channels","connected","init_s",
 * "settings","unread","late_warnings","verdicts"}. */
json_t *transport_fold(struct transport *t, const struct transport_input *input);

/* Return the result for a case without any report, with the likely reason. is_program:
 * the ranks belong to a program, which may not use NCCL. */
json_t *transport_unheard(const struct transport_input *input, bool is_program);

/* Copy a line without pointers and ports. These differ between processes, but equal
 * faults must have equal texts. */
void transport_strip_numbers(const char *text, char *out, size_t size);

#endif
