/* facts.h - what a report is made of. Filled on the loop's thread with what it alone may
 * read, and with events as text; taken apart and rendered on another thread. */
#ifndef RINGBENCH_SERVER_REPORT_FACTS_H
#define RINGBENCH_SERVER_REPORT_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTS_ROWS_MAX ((size_t)10000)
#define FACTS_MESSAGES_MAX ((size_t)500)
#define FACTS_LINKS_MAX ((size_t)200000)

struct figures;

/* Every member is owned. */
struct facts {
    json_t *run;       /* its document, shared with nobody */
    json_t *nodes;     /* array: nodes of the run that the server knows now, likewise */
    json_t *rows;      /* array: result rows, the first FACTS_ROWS_MAX */
    json_t *messages;  /* array: `message` events, the last FACTS_MESSAGES_MAX */
    json_t *connected; /* array: `rank` events that say what carries the bytes, the first
                          that name up to FACTS_LINKS_MAX peers in all: each rank may
                          name all others */
    struct figures *figures; /* of all rows, when it holds only some; or NULL */
    uint64_t messages_left_out, connected_left_out;
    size_t links; /* peers that `connected` names */
    int64_t generated_ms;
    char *address; /* of the run's page, or NULL */
};

/* Takes run and nodes, also on failure. NULL when memory is out. */
struct facts *facts_create(json_t *run, json_t *nodes, const char *address,
                           int64_t generated_ms);
void facts_destroy(struct facts *facts);

/* Take events, one line of JSON each, as the store gives them: results, messages and
 * ranks; others are passed over. -1 for what is no event, or when memory is out. */
int facts_add_events(struct facts *facts, const char *text, size_t len);

/* Whether it holds as many rows as it may: those that follow are only counted. */
bool facts_is_full(const struct facts *facts);

/* "simulated" or "emulated" where nothing real was measured, else NULL. */
const char *facts_unreal(const struct facts *facts);

/* Rows that the run has, and the facts have not. */
uint64_t facts_rows_left_out(const struct facts *facts);

bool facts_has_ended(const struct facts *facts);

/* The node that a rank lived on, or NULL. */
const char *facts_rank_node(const struct facts *facts, int64_t case_no, int64_t rank);

#endif
