/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_check.h - declares the table of preflight checks */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_CHECK_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_CHECK_H

#include "server/analysis/preflight.h"
#include "server/finding/verdict.h"

#define PREFLIGHT_TEXT_MAX 320
#define PREFLIGHT_NAME_MAX 96

/* The result of a check for one node; initially "not evaluated". */
struct preflight_result {
    enum verdict_answer answer;
    char sentence[PREFLIGHT_TEXT_MAX];
    char subject[PREFLIGHT_NAME_MAX]; /* replaces {} in the command */
    char most[PREFLIGHT_NAME_MAX];    /* replaces {most} in the command */
    bool is_split; /* the sentence names the nodes, and there is no command */
};

/* The backends for which a check is relevant. */
enum { PREFLIGHT_HOST = 1, PREFLIGHT_NCCL = 2, PREFLIGHT_SIM = 4 };
#define PREFLIGHT_ALL (PREFLIGHT_HOST | PREFLIGHT_NCCL | PREFLIGHT_SIM)

/* Collects values that all nodes should share. */
struct preflight_facts {
    /* Add a value. subject: the part of the node, or ""; borrowed. port: the number of
     * the subject's port, or 0. */
    void (*take)(struct preflight_facts *facts, const char *what, const char *value,
                 const char *subject, int port);
    bool is_alone; /* there is only one node */
};

enum preflight_bound {
    PREFLIGHT_AT_LEAST,
    PREFLIGHT_AT_MOST,
    PREFLIGHT_IS,
    PREFLIGHT_BEGINS_NOT
};

/* A value of the inventory that must be within a bound. */
struct preflight_value {
    const char *path; /* path in the inventory; an absent value is not evaluated */
    enum preflight_bound bound;
    double number;
    const char *text;
    /* the path starts at each GPU, which also replaces {} in the command */
    bool is_of_gpu;
    bool (*applies)(const struct preflight_node *node, struct preflight_result *result);
    /* a template (template.h) with {value} and {subject}, the GPU */
    const char *sentence;
};

/* A text in the inventory that all nodes should share. */
struct preflight_common {
    const char *what, *path;
};

/* A check uses exactly one of `look`, `gather`, `common` and `value`. */
struct preflight_check {
    const char *id,
        /* "error" if a run would fail or report wrong values, otherwise "warn" */
        *severity;
    unsigned backends;
    const char *command; /* fixes the problem */
    /* Check a single node. */
    void (*look)(const struct preflight_node *node, const struct preflight_use *use,
                 struct preflight_result *result);
    /* Collect the values that all nodes should share. */
    void (*gather)(const struct preflight_node *node, struct preflight_facts *facts);
    const struct preflight_common *common; /* ends with a NULL path */
    bool is_hardware; /* values are also compared among nodes that share no run */
    const char *good; /* a value that is never reported as a finding, or NULL */
    /* Return true if a subject is relevant for a run with these variables, which may be
     * NULL. If this callback is NULL, every subject is relevant. */
    bool (*concerns)(const json_t *env, const char *subject, int port);
    struct preflight_value value;
};

extern const struct preflight_check preflight_checks[];
extern const size_t preflight_n_checks;

/* Collect a node's values that all nodes should share. Return false if the check does not
 * compare nodes. */
bool preflight_gather(const struct preflight_check *check,
                      const struct preflight_node *node, struct preflight_facts *facts);

/* Run a check on a single node. */
void preflight_look(const struct preflight_check *check,
                    const struct preflight_node *node, const struct preflight_use *use,
                    struct preflight_result *result);

#endif
