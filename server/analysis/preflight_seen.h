/* preflight_seen.h - what checks see of nodes by themselves, kept as numbers: ten
 * thousand nodes are compared in a turn of the server's loop, whatever they differ in */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_SEEN_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_SEEN_H

#include "server/analysis/preflight_check.h"

/* A text that some have, by its place. */
struct preflight_text {
    char *key;        /* NULL: nobody has it any more */
    const char *word; /* of the key */
    size_t n_users;
    int a, b;
};

struct preflight_texts {
    json_t *places; /* of keys */
    struct preflight_text *items;
    size_t n, room;
    int *unused; /* places */
    size_t n_unused;
};

/* What one check saw, the same of however many nodes. */
struct preflight_sight {
    enum verdict_answer answer; /* of one that looks */
    char *sentence, *subject;
    int *facts; /* of one that gathers */
    size_t n_facts;
};

/* All that one check saw. */
struct preflight_sights {
    struct preflight_texts all;
    struct preflight_sight *sights; /* by place in all */
    size_t room;
    struct preflight_texts whats;
    struct preflight_texts values; /* a: of what */
    struct preflight_texts facts; /* the word is the subject. a: the value; b: the port */
};

struct preflight_memory {
    struct preflight_sights *checks; /* by their places in the table */
};

/* Of one node: a place for each check. */
struct preflight_seen {
    struct preflight_memory *memory;
    int sights[];
};

/* Of one check of a node that is asked now. */
void preflight_look(const struct preflight_check *check,
                    const struct preflight_node *node, const struct preflight_use *use,
                    struct preflight_said *said);

/* As preflight_see(). is_alone: there is no other node to hold it against. */
struct preflight_seen *preflight_see_as(struct preflight_memory *memory,
                                        const struct preflight_node *node, bool is_alone);

#endif
