/* SPDX-License-Identifier: Apache-2.0 */
/* blame.h - the ranks or nodes blamed for a case's end, as data and as a sentence for
 * users. "Blame" in docs/reference/api.md describes the data. */
#ifndef RINGBENCH_SERVER_RUNS_BLAME_H
#define RINGBENCH_SERVER_RUNS_BLAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum blame_kind {
    BLAME_RANK_FAILED,  /* by itself */
    BLAME_RANK_LOST,    /* according to its peers; count: how many of them */
    BLAME_RANK_MISSING, /* "of" ranks are not in `phase` after `seconds` */
    BLAME_UNREACHABLE,  /* count: broken paths between nodes */
    BLAME_STALLED,      /* no `awaited` event for `seconds` */
    BLAME_NODE_LOST,    /* lost during the case */
    BLAME_NODE_LEAVING, /* announced that it will leave */
    BLAME_NODE_REFUSED, /* could not start the case */
    BLAME_NODE_FULL,    /* no room for events, so its ranks waited */
    BLAME_NOT_EXITED,   /* done, but its workers still run */
    BLAME_WRONG_DATA,   /* count: wrong elements */
    BLAME_KIND_COUNT
};

/* Return a blame that names no rank or node yet (a new reference). */
json_t *blame_create(enum blame_kind kind);

bool blame_is(const json_t *blame, enum blame_kind kind);

/* Add a rank (or -1: the whole node) and the evidence against it (may be NULL). The
 * first entry becomes the blame's "rank" and "node". The list is limited; the count is
 * not. */
#define BLAME_LISTED_MAX 16
void blame_add(json_t *blame, int rank, const char *node, const char *text);

/* The same as blame_add(), with `by` as the rank that reported it. */
void blame_add_said(json_t *blame, int rank, const char *node, const char *text, int by);

/* Add the stack of `rank`, which ends the sentence. */
void blame_quote_stack(json_t *blame, int rank, const char *stack);

/* Write the sentence, e.g. "rank 2 on c was lost, say 3 of its peers (rank 1: ...)".
 * Truncated to size. */
#define BLAME_SENTENCE_SIZE 1500
void blame_sentence(const json_t *blame, char *out, size_t size);

#endif
