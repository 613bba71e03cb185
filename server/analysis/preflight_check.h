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

/* Who hears what nodes say that all are to have in common. */
struct preflight_facts {
    /* subject: what of the node it is, or ""; port: which port of that, or 0. */
    void (*take)(struct preflight_facts *facts, const char *what, const char *value,
                 const char *subject, int port);
    bool is_alone; /* there is one node */
};

struct preflight_check {
    const char *id, *severity; /* "error": a run fails or says what is not so; "warn" */
    unsigned backends;
    const char *command; /* what mends it */
    /* Of one node; or NULL. */
    void (*look)(const struct preflight_node *node, const struct preflight_use *use,
                 struct preflight_said *said);
    /* What all are to have in common. Or NULL. */
    void (*gather)(const struct preflight_node *node, struct preflight_facts *facts);
    const char *good;         /* of that: whoever has it is not accused; or NULL */
    bool is_of_now;           /* looked at anew each time */
    const char *variables[2]; /* of a run, with which it is looked at anew; or NULL */
    /* Whether what was gathered of a subject concerns a run with these variables, which
     * may be NULL. Or NULL: always. */
    bool (*concerns)(const json_t *env, const char *subject, int port);
};

extern const struct preflight_check preflight_checks[];
extern const size_t preflight_n_checks;

#endif
