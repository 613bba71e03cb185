/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - builds and reads verdicts, the server's conclusions about measurements
 *
 * A verdict is the same object wherever it appears, so that curl, the web page and
 * reports show the same sentence. kinds.inc lists the answers for each kind;
 * docs/reference/api.md contains the same table. */
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
/* Return the subject of the kind's verdicts, as a text for the documentation. */
const char *verdict_kind_about(enum verdict_kind kind);
const char *verdict_answer_name(enum verdict_answer answer);
bool verdict_kind_has(enum verdict_kind kind, enum verdict_answer answer);

/* Return true if a run's document stores verdicts of this kind. Other verdicts are made
 * on request. */
bool verdict_kind_is_kept(enum verdict_kind kind);
/* Return true if the text is ANSWER or KIND:ANSWER for a stored kind. */
bool verdict_answer_is_kept(const char *text);

/* Return the suffix for the sentence of a run that was not measured here, or "".
 * verdict_mark() returns " (simulated)" or " (emulated)"; backend may be NULL.
 * verdict_mark_of() reads a run's document and also returns " (imported)". */
const char *verdict_mark(const char *backend, bool is_emulated);
const char *verdict_mark_of(const json_t *run);

/* Return a new object {"kind","answer","sentence","nodes","evidence"}, with "quiet": true
 * if a run's text omits the answer. The answer must be one of the kind's answers.
 * sentence: may contain names from outside sources, in any encoding.
 * mark: a suffix from verdict_mark(), or NULL.
 * nodes: array of the nodes that the answer names, or NULL for none.
 * evidence: object with the figures behind the sentence.
 * Takes the references to nodes and evidence, even on failure. */
json_t *verdict_json(enum verdict_kind kind, enum verdict_answer answer,
                     const char *sentence, const char *mark, json_t *nodes,
                     json_t *evidence);

/* ---- Reading a verdict, such as one from a run's list ---- */

bool verdict_is(const json_t *verdict, enum verdict_kind kind);
/* Return true if the verdict's answer is `answer`. Also works for a check or a band in a
 * verdict's evidence. */
bool verdict_has_answer(const json_t *verdict, enum verdict_answer answer);

/* Return true if the answer justifies a search for a slow node. */
bool verdict_says_slow(const json_t *verdict);
/* Return true if a run's text omits the answer. */
bool verdict_is_quiet(const json_t *verdict);
/* Return true if the last line of a run's text shows the verdict as the run's result. */
bool verdict_is_result(const json_t *verdict);

/* Return the list's first verdict of the kind, borrowed, or NULL. */
json_t *verdicts_find(const json_t *verdicts, enum verdict_kind kind);

/* Return a new list with the verdicts in the order of their kinds. Within a kind,
 * verdicts that are not quiet come first. Each sentence appears once, and each answer of
 * a kind at most VERDICTS_ALIKE_MAX times. */
#define VERDICTS_ALIKE_MAX 16
json_t *verdicts_sorted(const json_t *verdicts);

/* Return ["kind:answer"] for the verdicts that name suspect nodes or clear all of
 * them. */
json_t *verdicts_judging(void);

#endif
