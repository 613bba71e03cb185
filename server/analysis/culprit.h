/* SPDX-License-Identifier: Apache-2.0 */
/* culprit.h - finds a slow node, link or rack from measurements of pairs of nodes
 *
 * The measurements may cover all pairs or some. Pure; docs/explanation/method.md has the
 * model, the error level and the detection rates. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct culprit_node {
    const char *name;
    const json_t
        *labels; /* strings by key, or NULL; the values of a suitable key name racks */
};

#define CULPRIT_SLOW 0.03

enum culprit_state { CULPRIT_RAN, CULPRIT_FAILED, CULPRIT_NOT_RUN };

/* One measurement: a case on two of the nodes. */
struct culprit_group {
    size_t nodes[2]; /* indexes */
    double figure;   /* larger is better, above 0; only for CULPRIT_RAN */
    enum culprit_state state;
    bool confirms; /* was requested by culprit_confirm() */
};

/* The input. All members are borrowed for the duration of the call. */
struct culprit_fleet {
    const struct culprit_node *nodes;
    size_t n_nodes;
    const struct culprit_group *groups; /* in any order, may include repeats */
    size_t n_groups;
    double slow; /* deficit from which a node is slow, as a fraction; 0: CULPRIT_SLOW */
    const char *slow_together; /* how all nodes together are slow; NULL: unknown */
    const char *unit;          /* of the figures */
    const char *mark;          /* see verdict.h; or NULL */
};

struct culprit_pair {
    size_t a, b;
};

/* Return the number of pairs to measure before the verdict, in order; the caller frees
 * *pairs. Pairs without a common node may run at the same time. Each suspect is paired
 * with nodes known to be good, and next to each such pair a control pair of good nodes
 * runs. Call again once these pairs have run or failed and are among the groups with
 * `confirms`. At the end, after at most 9 pairs for each suspect, returns 0. */
size_t culprit_confirm(const struct culprit_fleet *fleet, struct culprit_pair **pairs);

/* Return the `culprit` verdict as a new object. */
json_t *culprit_verdict(const struct culprit_fleet *fleet);

#endif
