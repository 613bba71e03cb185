/* SPDX-License-Identifier: Apache-2.0 */
/* standing.h - whether a node is a suspect. Pure: functions of the node's document and of
 * what runs of watches said.
 *
 * The document of a node, as the store has it and as docs/reference/api.md shows a
 * suspect:
 * {"node", "results": of the latest runs that judged it, newest first, [{"run","named"}],
 *  "identity": of its machine when it was named, "changed": it is another one now,
 *  "held": see actions.h}, and of a suspect "since", "watch", "run", "sentence" */
#ifndef RINGBENCH_SERVER_WATCHES_STANDING_H
#define RINGBENCH_SERVER_WATCHES_STANDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define STANDING_RUNS 10 /* that count */
#define STANDING_NAMED 2 /* as often among them, and it is a suspect */

enum standing_news {
    STANDING_SAME,
    STANDING_SUSPECT, /* it has become one */
    STANDING_CLEARED  /* it was one, and has passed */
};

/* The node's document of an object by names, which gets a new one as needed; borrowed. */
json_t *standing_of(json_t *standings, const char *node);

bool standing_is_suspect(const json_t *node);

/* A hook was done to it and not undone. */
bool standing_is_held(const json_t *node);

/* It was named lately: a run over all nodes that passes would not clear it. */
bool standing_is_open(const json_t *node);

/* Whether one of the names is that of such a node. */
bool standing_any_is_open(const json_t *standings, const json_t *names);

/* A run has judged the node and named it, or has not, for which the sentence is why. */
enum standing_news standing_take(json_t *node, const char *watch, const char *run,
                                 const char *sentence, bool is_named,
                                 const char *identity, int64_t now_ms);

/* It is no suspect any more, and no run has named it. */
void standing_clear(json_t *node);

/* Nothing is left to remember: no run that counts has named it, and no hook holds it. */
bool standing_is_clean(const json_t *node);

#endif
