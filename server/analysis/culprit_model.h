/* culprit_model.h - suspects, and what speaks for and against them (inside culprit) */
#ifndef RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H
#define RINGBENCH_SERVER_ANALYSIS_CULPRIT_MODEL_H

#include "server/analysis/culprit.h"

/* Of healthy fleets, in how many anything is suspected, of these in how many it is
 * confirmed, and so in how many something is named. */
#define CULPRIT_SUSPICION 0.02
#define CULPRIT_CONFIRMATION 0.1
#define CULPRIT_LEVEL 0.002
#define CULPRIT_RESOLVED 0.25 /* who could lose more unseen leaves no "none" */
#define CULPRIT_NODES_MIN 3
#define CULPRIT_LINKS_MAX 16 /* suspects; of more none is */
#define CULPRIT_CONFIRM_MIN 3
#define CULPRIT_CONFIRM_MAX 9

enum suspect_kind { SUSPECT_RACK, SUSPECT_NODE, SUSPECT_LINK };
enum suspect_state { SUSPECT_OPEN, SUSPECT_CLEARED, SUSPECT_GUILTY };

struct suspect {
    enum suspect_kind kind;
    size_t a, b;         /* the node; both ends of a link; a node of the rack */
    const char *key;     /* of the labels that name the rack */
    bool is_boundary;    /* of two racks: b is of the other, either may be to blame */
    bool is_slow_within; /* of a rack */
    enum suspect_state state;
    size_t measured, slow;           /* groups that none but it explains */
    size_t controls, slow_controls;  /* measured between those to confirm suspects */
    size_t confirmed, tested, tried; /* of those that were to confirm it: slow, that
                                        ran, in all */
    double effect;                   /* median deviation of these, below 0 */
    double again;                    /* the same of those that were to confirm it */
    /* How many nodes, links or racks would have as many slow groups by chance. No p
     * value: it counts the groups that raised the suspicion, too. */
    double by_chance;
    double figure, reference; /* median of these, and what was to be expected */
};

struct culprit_model {
    const struct culprit_fleet *fleet;
    double reference;   /* of a group, a logarithm */
    double *deviations; /* by group, from the reference; NAN: did not run */
    double noise;       /* standard deviation of one */
    size_t n_ran, n_failed;
    const char *key;         /* of the labels that are looked at, or NULL */
    const char **racks;      /* by node: one pointer for each label, NULL: has none */
    size_t *firsts, n_racks; /* the first node of each */
    size_t *starts, *lists;  /* by node: its groups */
    struct suspect *suspects;
    size_t n_suspects, capacity;
    bool *is_suspect; /* by node: it, or its rack, is not cleared */
    unsigned *users;  /* by group: how many suspects that are not cleared explain it */
    double *scratch;
    size_t n_slow, n_free; /* groups that nobody explains: slow ones, and all */
    double largest;        /* deviation of a node that is no suspect */
    double resolution;     /* what a node that is no suspect could be behind, unseen */
    size_t n_measured;     /* nodes */
};

/* Without suspects; to be released. */
void culprit_model_init(struct culprit_model *model, const struct culprit_fleet *fleet);
void culprit_find_suspects(struct culprit_model *model);
void culprit_model_release(struct culprit_model *model);

/* How many standard errors the worst of so many is off by chance, with that probability.
 */
double culprit_errors(double level, size_t tests);

/* The deviation that a node must be below to be called slow: the user's, or the usual. */
double culprit_margin(const struct culprit_model *model);

/* What the median of n deviations has to be below to be so far off, and below what
 * matters. */
double culprit_cut(const struct culprit_model *model, size_t n, double errors);

/* The median deviation of a node over the groups that no suspect explains and that were
 * not to confirm one; of two in the middle the better one: a node is slow if it is so in
 * more than half. NAN of none. n: how many. */
double culprit_deviation(const struct culprit_model *model, size_t node, size_t *n);

/* Look at the racks of this key of the labels, NULL: of none. */
void culprit_set_key(struct culprit_model *model, const char *key);

bool culprit_explains(const struct culprit_model *model, const struct suspect *suspect,
                      size_t group);

#endif
