/* SPDX-License-Identifier: Apache-2.0 */
/* blame.h - records which ranks or nodes caused a case's end, as data and as a sentence.
 * "Blame" in docs/reference/api.md describes the data. */
#ifndef RINGBENCH_SERVER_RUNS_BLAME_H
#define RINGBENCH_SERVER_RUNS_BLAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum blame_kind {
    BLAME_RANK_FAILED, /* a rank failed, and not because of another rank */
    BLAME_RANK_LOST, /* peers report that a rank is lost; count: number of these peers */
    /* some of the case's `of` ranks have not reached `phase` after `seconds` */
    BLAME_RANK_MISSING,
    BLAME_UNREACHABLE,  /* ranks cannot reach each other; count: number of broken paths */
    BLAME_STALLED,      /* no rank reported the item named in `awaited` for `seconds` */
    BLAME_NODE_LOST,    /* a node was lost during the case */
    BLAME_NODE_LEAVING, /* a node announced that it will leave */
    BLAME_NODE_REFUSED, /* a node could not start the case */
    BLAME_NODE_FULL,    /* a node's agent had no room for events, so its ranks waited */
    BLAME_NOT_EXITED,   /* the case is done, but workers still run */
    BLAME_WRONG_DATA,   /* results are wrong; count: number of wrong elements */
    BLAME_KIND_COUNT
};

/* Return a blame that names no rank or node yet (a new reference). */
json_t *blame_create(enum blame_kind kind);

bool blame_is(const json_t *blame, enum blame_kind kind);

/* Add a rank (-1: the whole node) and the evidence against it (may be NULL). The first
 * entry becomes the blame's "rank" and "node". `evidence` lists at most BLAME_LISTED_MAX
 * entries; `count` counts all of them. */
#define BLAME_LISTED_MAX 16
void blame_add(json_t *blame, int rank, const char *node, const char *text);

/* Like blame_add(); `by` is the rank that reported the entry, or -1. */
void blame_add_said(json_t *blame, int rank, const char *node, const char *text, int by);

/* Add the stack of `rank`, which the sentence quotes at its end. */
void blame_quote_stack(json_t *blame, int rank, const char *stack);

/* Write the sentence, truncated to `size`, e.g. "rank 2 on c was lost according to 3 of
 * its peers (rank 1: ...)". */
#define BLAME_SENTENCE_SIZE 1500
void blame_sentence(const json_t *blame, char *out, size_t size);

#endif
