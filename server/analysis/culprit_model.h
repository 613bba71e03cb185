/* SPDX-License-Identifier: Apache-2.0 */
/* culprit_model.h - suspects and the evidence for and against them (internal to
 * culprit) */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H

#include "server/analysis/culprit.h"

/* Error rates in healthy fleets: the probability that anything is suspected, that a
 * suspect is confirmed, and the product, that anything is named. */
#define CULPRIT_SUSPICION 0.02
#define CULPRIT_CONFIRMATION 0.1
#define CULPRIT_LEVEL 0.002
/* A possible undetected deficit above this fraction rules out the answer "none". */
#define CULPRIT_RESOLVED 0.25
#define CULPRIT_NODES_MIN 3
/* Suspects at most; with more slow pairs, no link is suspected. */
#define CULPRIT_LINKS_MAX 16
#define CULPRIT_CONFIRM_MIN 3
#define CULPRIT_CONFIRM_MAX 9

enum suspect_kind { SUSPECT_RACK, SUSPECT_NODE, SUSPECT_LINK };
enum suspect_state { SUSPECT_OPEN, SUSPECT_CLEARED, SUSPECT_GUILTY };

struct suspect {
    enum suspect_kind kind;
    size_t a, b;      /* the node; both ends of a link; a node of the rack */
    const char *key;  /* label key that names the rack */
    bool is_boundary; /* between two racks: b is in the other rack, and either may be the
                         cause */
    bool is_slow_within; /* the rack is also slow within */
    enum suspect_state state;
    size_t measured, slow;           /* groups that only this suspect explains */
    size_t controls, slow_controls;  /* control groups for confirmations */
    size_t confirmed, tested, tried; /* confirming groups: slow, that ran, in total */
    double effect; /* median deviation of the measured groups, below 0 */
    double again;  /* median deviation of the tested groups */
    /* Expected number of nodes, links or racks with as many slow groups by chance. Not a
     * p value, because it includes the groups that raised the suspicion. */
    double by_chance;
    double figure, reference; /* median of the measured groups, and the expected figure */
};

struct culprit_model {
    const struct culprit_fleet *fleet;
    double reference;   /* logarithm of a healthy group's figure */
    double *deviations; /* by group, from the reference; NAN: did not run */
    double noise;       /* standard deviation of a group */
    size_t n_ran, n_failed;
    const char *key;         /* label key of the racks in use, or NULL */
    const char **racks;      /* by node: one pointer for each label value, NULL: none */
    size_t *firsts, n_racks; /* first node of each rack */
    size_t *starts, *lists;  /* the groups of each node */
    struct suspect *suspects;
    size_t n_suspects, capacity;
    bool *is_suspect; /* by node: the node or its rack is an uncleared suspect */
    unsigned *users;  /* by group: number of uncleared suspects that explain it */
    double *scratch;
    size_t n_slow, n_free; /* groups that no suspect explains: slow ones, and all */
    double largest;        /* largest deviation of a node that is not a suspect */
    double resolution;     /* deviation that a non-suspect node could have undetected */
    size_t n_measured;     /* nodes */
};

/* Initialize without suspects. The caller releases the model. */
void culprit_model_init(struct culprit_model *model, const struct culprit_fleet *fleet);
void culprit_find_suspects(struct culprit_model *model);
void culprit_model_release(struct culprit_model *model);

/* Return the number of standard errors that the worst of `tests` values exceeds by chance
 * with probability `level`. */
double culprit_errors(double level, size_t tests);

/* Return the deviation below which a node is slow: the user's or the default. */
double culprit_margin(const struct culprit_model *model);

/* Return the threshold for the median of n deviations to be both significant and
 * relevant. */
double culprit_cut(const struct culprit_model *model, size_t n, double errors);

/* Return a node's median deviation over the groups that no suspect explains and that
 * confirm none, or NAN. Of two middle values it takes the better one, because a slow node
 * is slow in more than half of its groups. *n: number of groups. */
double culprit_deviation(const struct culprit_model *model, size_t node, size_t *n);

/* Select the label key that defines racks, or NULL for no racks. */
void culprit_set_key(struct culprit_model *model, const char *key);

bool culprit_explains(const struct culprit_model *model, const struct suspect *suspect,
                      size_t group);

#endif
