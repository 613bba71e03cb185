/* verdict.h - what the server says of figures: one object wherever it comes from, so that
 * curl, the page and a report say the same sentence. Which answers a kind has is one
 * table, kinds.inc, which docs/reference/api.md shows. */
#ifndef RINGBENCH_SERVER_FINDING_VERDICT_H
#define RINGBENCH_SERVER_FINDING_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum verdict_kind {
#define ANSWER(id, name)
#define KIND(id, name, about, ...) VERDICT_##id,
#include "server/finding/kinds.inc"
#undef KIND
    VERDICT_KINDS
};

enum verdict_answer {
#define KIND(id, name, about, ...)
#undef ANSWER
#define ANSWER(id, name) VERDICT_##id,
#include "server/finding/kinds.inc"
#undef ANSWER
#undef KIND
    VERDICT_ANSWERS
};

const char *verdict_kind_name(enum verdict_kind kind);
const char *verdict_kind_about(enum verdict_kind kind); /* what it is of, a sentence */
const char *verdict_answer_name(enum verdict_answer answer);
bool verdict_kind_has(enum verdict_kind kind, enum verdict_answer answer);

/* Whether a run's document keeps verdicts of the kind; others are made on request. */
bool verdict_kind_is_kept(enum verdict_kind kind);
/* Whether the text is ANSWER or KIND:ANSWER of a kind that is kept. */
bool verdict_answer_is_kept(const char *text);

/* What stands behind a sentence on a run that was not measured here: " (simulated)",
 * " (emulated)", of its document also " (imported)"; or "". backend: or NULL. */
const char *verdict_mark(const char *backend, bool is_emulated);
const char *verdict_mark_of(const json_t *run);

/* {"kind","answer","sentence","nodes","evidence"}, and "quiet": true if the answer is no
 * news. The answer is one of its kind.
 * sentence: whatever bytes it has of names that others gave; mark: as above, or NULL.
 * nodes: those that the answer names, an array, or NULL for none; evidence: the figures
 * that the sentence rests on, an object. Both are taken, also on failure. A new object.
 */
json_t *verdict_json(enum verdict_kind kind, enum verdict_answer answer,
                     const char *sentence, const char *mark, json_t *nodes,
                     json_t *evidence);

/* ---- A verdict that was made, such as one of a run's list ---- */

bool verdict_is(const json_t *verdict, enum verdict_kind kind);
/* Also of a check or a band of its evidence. */
bool verdict_says(const json_t *verdict, enum verdict_answer answer);

/* Whether its answer is a reason to look for a slow node. */
bool verdict_says_slow(const json_t *verdict);
/* Whether it is no news, so that the text of a run omits it. */
bool verdict_is_quiet(const json_t *verdict);
/* Whether it is what the run was to find out: the last line of its text has it. */
bool verdict_is_result(const json_t *verdict);

/* The first of the kind in a list; borrowed, or NULL. */
json_t *verdicts_find(const json_t *verdicts, enum verdict_kind kind);

/* A new list of a list's verdicts in the order of their kinds, of a kind those that are
 * news first. Each sentence is in it once, and each answer of a kind at most
 * VERDICTS_ALIKE_MAX times. */
#define VERDICTS_ALIKE_MAX 16
json_t *verdicts_sorted(const json_t *verdicts);

/* ["kind:answer"] of verdicts that say which nodes are suspects, or that none is. */
json_t *verdicts_judging(void);

#endif
