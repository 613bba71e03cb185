/* SPDX-License-Identifier: Apache-2.0 */
/* culprit_model.h - defines suspects and the evidence for and against them (internal to
 * culprit) */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H

#include "server/analysis/culprit.h"

/* Error rates in healthy fleets: the probability that any node is suspected, and the
 * probability that a suspect is confirmed. Their product is the probability that a node
 * is named. */
#define CULPRIT_SUSPICION 0.02
#define CULPRIT_CONFIRMATION 0.1
#define CULPRIT_LEVEL 0.002
/* If a deficit above this fraction could remain undetected, the answer is not "none". */
#define CULPRIT_RESOLVED 0.25
#define CULPRIT_NODES_MIN 3
/* Maximum number of suspect links. With more slow pairs, no link is suspected. */
#define CULPRIT_LINKS_MAX 16
#define CULPRIT_CONFIRM_MIN 3
#define CULPRIT_CONFIRM_MAX 9

enum suspect_kind { SUSPECT_RACK, SUSPECT_NODE, SUSPECT_LINK };
enum suspect_state { SUSPECT_OPEN, SUSPECT_CLEARED, SUSPECT_GUILTY };

struct suspect {
    enum suspect_kind kind;
    size_t a, b;     /* the node; both ends of a link; or any node of the rack */
    const char *key; /* label key that names the rack */
    /* The suspect is the boundary between two racks: b is in the other rack, and either
     * rack may be the cause. */
    bool is_boundary;
    bool is_slow_within; /* pairs within the rack are slow, too */
    enum suspect_state state;
    /* Number of groups that only this suspect explains, and of its slow groups */
    size_t measured, slow;
    /* Number of control groups of confirmations, and of the slow ones among them */
    size_t controls, slow_controls;
    /* number of confirming groups: slow, completed, and in total */
    size_t confirmed, tested, tried;
    double effect; /* median deviation of the measured groups, below 0 */
    double again;  /* median deviation of the tested groups */
    /* Number of nodes, links or racks that would have as many slow groups by chance. The
     * number is not a p value, because it includes the groups that raised the
     * suspicion. */
    double by_chance;
    /* Median figure of the measured groups, and the expected figure */
    double figure, reference;
};

struct culprit_model {
    const struct culprit_fleet *fleet;
    double reference; /* logarithm of a healthy group's figure */
    /* By group, relative to the reference; NAN if the group did not run */
    double *deviations;
    double noise; /* standard deviation of a single group */
    size_t n_ran, n_failed;
    const char *key; /* label key of the racks in use, or NULL */
    /* By node: a pointer that all nodes with the same label value share; NULL: no rack */
    const char **racks;
    size_t *firsts, n_racks; /* first node of each rack */
    /* The groups of each node: lists[starts[i]] to lists[starts[i + 1] - 1] */
    size_t *starts, *lists;
    struct suspect *suspects;
    size_t n_suspects, capacity;
    /* By node: true if the node or its rack is a suspect that is not cleared */
    bool *is_suspect;
    /* By group: number of suspects, not cleared, that explain the group */
    unsigned *users;
    double *scratch;
    /* number of slow groups, and of all groups, that no suspect explains */
    size_t n_slow, n_free;
    double largest; /* largest deviation of a node that is not suspect */
    /* Deviation that a node that is not suspect could have without detection */
    double resolution;
    size_t n_measured; /* number of measured nodes */
};

/* Initialize a model without suspects. The caller releases the model. */
void culprit_model_init(struct culprit_model *model, const struct culprit_fleet *fleet);
void culprit_find_suspects(struct culprit_model *model);
void culprit_model_release(struct culprit_model *model);

/* Return the number of standard errors that the worst of `tests` values exceeds by chance
 * with probability `level`. */
double culprit_errors(double level, size_t tests);

/* Return the deviation below which a node is slow: the user's threshold, or the default.
 */
double culprit_margin(const struct culprit_model *model);

/* Return the threshold below which the median of n deviations is both significant and
 * relevant. */
double culprit_cut(const struct culprit_model *model, size_t n, double errors);

/* Return a node's median deviation, or NAN. The median covers the groups that no suspect
 * explains and that do not confirm suspects. If two values are in the middle, the better
 * one counts, because a slow node is slow in more than half of its groups. *n: number of
 * groups. */
double culprit_deviation(const struct culprit_model *model, size_t node, size_t *n);

/* Select the label key that defines racks. NULL: no racks. */
void culprit_set_key(struct culprit_model *model, const char *key);

bool culprit_explains(const struct culprit_model *model, const struct suspect *suspect,
                      size_t group);

#endif
