/* SPDX-License-Identifier: Apache-2.0 */
/* blame.h - whom the end of a case names: data, and the sentence that people read. The
 * data is "Blame" of docs/reference/api.md. */
#ifndef RINGBENCH_SERVER_RUNS_BLAME_H
#define RINGBENCH_SERVER_RUNS_BLAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum blame_kind {
    BLAME_RANK_FAILED,  /* by itself */
    BLAME_RANK_LOST,    /* so its peers say; count: how many of them */
    BLAME_RANK_MISSING, /* "of" ranks it is not in `phase` after `seconds` */
    BLAME_UNREACHABLE,  /* count: ways between nodes that do not go */
    BLAME_STALLED,      /* nothing `awaited` came for `seconds` */
    BLAME_NODE_LOST,    /* went during the case */
    BLAME_NODE_LEAVING, /* said that it will go */
    BLAME_NODE_REFUSED, /* could not start the case */
    BLAME_NODE_FULL,    /* had no room for events, so that its ranks waited */
    BLAME_NOT_EXITED,   /* done, and still there */
    BLAME_WRONG_DATA,   /* count: wrong elements */
    BLAME_KIND_COUNT
};

/* Nobody is named yet. A new reference. */
json_t *blame_create(enum blame_kind kind);

bool blame_is(const json_t *blame, enum blame_kind kind);

/* Name one more: a rank (or -1: the node as a whole), and what speaks against it (may be
 * NULL). The first is "rank" and "node" of the blame; so many are listed, all counted. */
#define BLAME_LISTED_MAX 16
void blame_add(json_t *blame, int rank, const char *node, const char *text);

/* The same, when it is rank `by` that says so. */
void blame_add_said(json_t *blame, int rank, const char *node, const char *text, int by);

/* Where `rank` was when it was asked. The sentence ends with it. */
void blame_quote_stack(json_t *blame, int rank, const char *stack);

/* "rank 2 on c was lost, say 3 of its peers (rank 1: ...)". Cut to size. */
#define BLAME_SENTENCE_SIZE 1500
void blame_sentence(const json_t *blame, char *out, size_t size);

#endif
