/* culprit.h - which node, link or rack is slow, from figures of pairs of nodes, all or
 * some of them. Plain functions; docs/explanation/method.md has the model, the level and
 * what it finds. */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct culprit_node {
    const char *name;
    const json_t *labels; /* strings by key, or NULL: a key that groups is a rack's */
};

#define CULPRIT_SLOW 0.03

enum culprit_state { CULPRIT_RAN, CULPRIT_FAILED, CULPRIT_NOT_RUN };

/* One measurement: a case over two of the nodes. */
struct culprit_group {
    size_t nodes[2]; /* indexes */
    double figure;   /* more is better, above 0; of CULPRIT_RAN alone */
    enum culprit_state state;
    bool confirms; /* was asked for by culprit_confirm */
};

/* All is borrowed, and must stay as long as the call takes. */
struct culprit_fleet {
    const struct culprit_node *nodes;
    size_t n_nodes;
    const struct culprit_group *groups; /* in any order, repeats too */
    size_t n_groups;
    double slow; /* who is a smaller part behind is not slow; 0: CULPRIT_SLOW */
    const char *slow_together; /* what all of the nodes are slow in; NULL: not known */
    const char *unit;          /* of the figures */
    const char *mark;          /* as verdict.h has it, or NULL */
};

struct culprit_pair {
    size_t a, b;
};

/* The pairs to measure before the verdict, in this order, as many at once as have no node
 * in common: each suspect with nodes that are known to be good, and beside each of them
 * good ones with each other. To be asked again when these have run (or failed) and stand
 * among the groups with `confirms`; it ends with no pairs, after 9 for each suspect at
 * most. Returns how many there are; the array is to be freed. */
size_t culprit_confirm(const struct culprit_fleet *fleet, struct culprit_pair **pairs);

/* The verdict of kind `culprit`. A new object. */
json_t *culprit_verdict(const struct culprit_fleet *fleet);

#endif
