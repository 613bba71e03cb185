/* SPDX-License-Identifier: Apache-2.0 */
/* transport.h - the transports that a case used, by pair of nodes, according to NCCL's
 * log or the ranks of the host backend, and findings against them */
#ifndef RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H
#define RINGBENCH_SERVER_ANALYSIS_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/spec/run_spec.h"

#define TRANSPORT_PAIRS_MAX 4096 /* pairs of nodes listed for each transport */
#define TRANSPORT_WAYS_MAX 128

struct transport_node {
    const char *name;
    const json_t *inventory; /* or NULL */
};

struct transport_input {
    const struct transport_node *nodes;
    size_t n_nodes;
    json_t *env;      /* variables set for the job, or NULL */
    const char *mark; /* see verdict_json(); or NULL */
    bool is_of_file;  /* read from a file, which may lack the logs of some processes */
};

/* The sender of a log: a process, identified by its rank in the case or by another
 * number. */
struct transport_speaker {
    int rank;
    int node;                /* index */
    const json_t *inventory; /* of the node, or NULL; not kept */
};

/* The reports of a case's processes. */
struct transport;

/* max: limit for the number of processes. host: options of the host backend, borrowed;
 * NULL for NCCL. */
struct transport *transport_create(size_t n_nodes, size_t max,
                                   const struct host_options *host);
void transport_destroy(struct transport *t);

/* Set the node of a rank. Call before the first report, and only if the case's rank
 * numbers are those of one communicator over all ranks. Peers are then resolved at once,
 * otherwise at the end. */
void transport_place(struct transport *t, int rank, int node);

/* Take a process's report: the `log` of an `nccl` event; for the host backend an object
 * with "rank", "ranks" and, as "transports", the worker's `ways`. A later report replaces
 * an earlier one. */
void transport_take(struct transport *t, const struct transport_speaker *speaker,
                    const json_t *log);

/* Return a new object, or NULL without logs, as in docs/reference/api.md:
 * {"by","nodes":[NAME],
 * "ways":[{"kind","via","name","gdr","pxn","channels","sockets","text","between","pairs":
 * [[a,b]],"n_pairs","inside"}],"networks","version","channels","connected","init_s",
 * "settings","unread","late_warnings","verdicts"}. */
json_t *transport_fold(struct transport *t, const struct transport_input *input);

/* Return the same for a case without any report, with the likely reason. is_program: the
 * ranks belong to a program, which may not use NCCL. */
json_t *transport_unheard(const struct transport_input *input, bool is_program);

/* Copy a line without pointers and ports, which differ by process, so that equal faults
 * have equal texts. */
void transport_strip_numbers(const char *text, char *out, size_t size);

#endif
