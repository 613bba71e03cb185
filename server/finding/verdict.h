/* verdict.h - what the server says of figures: one object wherever it comes from, so that
 * curl, the page and a report say the same sentence. Which answers a kind has is one
 * table, here and in docs/architecture.md. */
#ifndef RINGBENCH_SERVER_FINDING_VERDICT_H
#define RINGBENCH_SERVER_FINDING_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum verdict_kind {
    VERDICT_COMPARE,
    VERDICT_GATE,
    VERDICT_CHANGE,
    VERDICT_CULPRIT,
    VERDICT_LATENESS,
    VERDICT_PROJECTION,
    VERDICT_BUDGET,
    VERDICT_HANG,
    VERDICT_TRANSPORT,
    VERDICT_PREFLIGHT,
    VERDICT_CEILING,
    VERDICT_TRAFFIC,
    VERDICT_TOPOLOGY,
    VERDICT_KINDS
};

enum verdict_answer {
    VERDICT_BETTER,
    VERDICT_WORSE,
    VERDICT_SAME,
    VERDICT_MIXED,
    VERDICT_NOT_ENOUGH_DATA,
    VERDICT_PASS,
    VERDICT_FAIL,
    VERDICT_NOT_EVALUATED,
    VERDICT_SLOW_NODE,
    VERDICT_SLOW_LINK,
    VERDICT_SLOW_RACK,
    VERDICT_LATE_RANK,
    VERDICT_LAGGING_RANK,
    VERDICT_NONE,
    VERDICT_NO_RANK,
    VERDICT_PROJECTED,
    VERDICT_ESTIMATED,
    VERDICT_OK,
    VERDICT_FINDING,
    VERDICT_EXPECTED,
    VERDICT_WITHIN_NODES,
    VERDICT_BY_NETWORK,
    VERDICT_PARTLY,
    VERDICT_ANOTHER_WAY,
    VERDICT_DIFFERS,
    VERDICT_ANSWERS
};

const char *verdict_kind_name(enum verdict_kind kind);
const char *verdict_kind_about(enum verdict_kind kind); /* what it is of, a sentence */
const char *verdict_answer_name(enum verdict_answer answer);
bool verdict_kind_has(enum verdict_kind kind, enum verdict_answer answer);

/* Whether a run's document, or a case's, keeps a verdict of the kind; others are made on
 * request. */
bool verdict_kind_is_kept(enum verdict_kind kind);
/* Whether the text is ANSWER or KIND:ANSWER of a kind that is kept. */
bool verdict_answer_is_kept(const char *text);

/* What stands behind a sentence on a run that was not measured here: " (simulated)",
 * " (emulated)", of its document also " (imported)"; or "". backend: or NULL. */
const char *verdict_mark(const char *backend, bool is_emulated);
const char *verdict_mark_of(const json_t *run);

/* {"kind","answer","sentence","evidence"}. The answer is one of its kind. sentence:
 * whatever bytes it has of names that others gave; mark: as above, or NULL. evidence:
 * what the sentence rests on, an object; it is taken, also on failure. A new object; NULL
 * when memory is out. */
json_t *verdict_json(enum verdict_kind kind, enum verdict_answer answer,
                     const char *sentence, const char *mark, json_t *evidence);

#endif
