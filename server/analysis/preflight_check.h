/* preflight_check.h - the table of checks, as preflight.c asks it */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_CHECK_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_CHECK_H

#include "server/analysis/preflight.h"
#include "server/finding/verdict.h"

#define PREFLIGHT_TEXT_MAX 320
#define PREFLIGHT_NAME_MAX 96

/* What a check says of a node; it begins as one that could not be evaluated. */
struct preflight_said {
    enum verdict_answer answer;
    char sentence[PREFLIGHT_TEXT_MAX];
    char subject[PREFLIGHT_NAME_MAX]; /* what {} of the command stands for */
    char most[PREFLIGHT_NAME_MAX];    /* and {most} */
    bool is_split; /* the sentence names the nodes, and no command mends it */
};

/* Which backends a check concerns. */
enum { PREFLIGHT_HOST = 1, PREFLIGHT_NCCL = 2, PREFLIGHT_SIM = 4 };
#define PREFLIGHT_ALL (PREFLIGHT_HOST | PREFLIGHT_NCCL | PREFLIGHT_SIM)

/* Takes what nodes say that all should have in common. */
struct preflight_facts {
    /* subject: the part of the node, or ""; it is kept, not copied. port: which port of
     * that, or 0. */
    void (*take)(struct preflight_facts *facts, const char *what, const char *value,
                 const char *subject, int port);
    bool is_alone; /* there is one node */
};

enum preflight_bound {
    PREFLIGHT_AT_LEAST,
    PREFLIGHT_AT_MOST,
    PREFLIGHT_IS,
    PREFLIGHT_BEGINS_NOT
};

/* A value of the inventory that should be within a bound. */
struct preflight_value {
    const char *path; /* in the inventory; a value that is not there is not evaluated */
    enum preflight_bound bound;
    double number;
    const char *text;
    bool is_of_gpu; /* the path begins at each GPU, and {} of the command is that GPU */
    bool (*applies)(const struct preflight_node *node, struct preflight_said *said);
    const char *sentence; /* template.h; {value}, and {subject}: the GPU */
};

/* A text of the inventory that all nodes should have in common. */
struct preflight_common {
    const char *what, *path;
};

/* It has one of `look`, `gather`, `common` and `value`. */
struct preflight_check {
    const char *id, *severity; /* "error": a run fails or says what is not so; "warn" */
    unsigned backends;
    const char *command; /* what mends it */
    /* Of one node. */
    void (*look)(const struct preflight_node *node, const struct preflight_use *use,
                 struct preflight_said *said);
    /* What all nodes should have in common. */
    void (*gather)(const struct preflight_node *node, struct preflight_facts *facts);
    const struct preflight_common *common; /* ends with a path of NULL */
    bool is_hardware; /* that also nodes have in common that are in no run together */
    const char *good; /* of that: whoever has it is not accused; or NULL */
    /* Whether what was gathered of a subject concerns a run with these variables, which
     * may be NULL. Or NULL: always. */
    bool (*concerns)(const json_t *env, const char *subject, int port);
    struct preflight_value value;
};

extern const struct preflight_check preflight_checks[];
extern const size_t preflight_n_checks;

/* Take what the node has of what all should have in common. False: that is not what the
 * check is about. */
bool preflight_gather(const struct preflight_check *check,
                      const struct preflight_node *node, struct preflight_facts *facts);

/* One check of one node by itself. */
void preflight_look(const struct preflight_check *check,
                    const struct preflight_node *node, const struct preflight_use *use,
                    struct preflight_said *said);

#endif
