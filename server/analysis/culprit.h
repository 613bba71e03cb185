/* SPDX-License-Identifier: Apache-2.0 */
/* culprit.h - finds a slow node, link or rack from measurements of pairs of nodes
 *
 * The measurements may cover all pairs or only some. The functions do no I/O.
 * docs/explanation/method.md describes the model, the error level and the detection
 * rates. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct culprit_node {
    const char *name;
    /* strings by key, or NULL; the values of a suitable key name racks */
    const json_t *labels;
};

#define CULPRIT_SLOW 0.03

enum culprit_state { CULPRIT_RAN, CULPRIT_FAILED, CULPRIT_NOT_RUN };

/* One measurement: a case on two of the nodes. */
struct culprit_group {
    size_t nodes[2]; /* indexes of the two nodes */
    double figure;   /* larger is better, above 0; set only for CULPRIT_RAN */
    enum culprit_state state;
    bool confirms; /* culprit_confirm() requested this measurement */
};

/* The input. All members are borrowed during the call. */
struct culprit_fleet {
    const struct culprit_node *nodes;
    size_t n_nodes;
    const struct culprit_group *groups; /* in any order, repeats allowed */
    size_t n_groups;
    double slow; /* minimum deficit of a slow node, as a fraction; 0: CULPRIT_SLOW */
    /* Phrase that describes how all nodes together are slow; NULL: unknown */
    const char *slow_together;
    const char *unit; /* unit of the figures */
    const char *mark; /* suffix of the sentence, see verdict.h; or NULL */
};

struct culprit_pair {
    size_t a, b;
};

/* Store the pairs to measure before the verdict, in order, in *pairs, which the caller
 * frees, and return their number. Pairs without a common node may run at the same time.
 * Each suspect is paired with nodes known to be good, and for each such pair a control
 * pair of good nodes runs, too. Call the function again once these pairs have run or
 * failed and are among the groups with `confirms` set. Returns 0 at the end, after at
 * most 9 pairs for each suspect. */
size_t culprit_confirm(const struct culprit_fleet *fleet, struct culprit_pair **pairs);

/* Return the `culprit` verdict as a new object. */
json_t *culprit_verdict(const struct culprit_fleet *fleet);

#endif
