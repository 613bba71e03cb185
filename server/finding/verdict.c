/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - defines the kinds and answers of verdicts, and builds a verdict's JSON
 * object */
#include "server/finding/verdict.h"

#include <assert.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"

#define SENTENCE_MAX ((size_t)16 << 10)
#define HAS(answer) (1u << VERDICT_##answer)

static const struct {
    const char *name, *about;
    unsigned answers;
    unsigned judging; /* answers that name suspect nodes or clear all of them */
    unsigned slow;    /* answers that justify a search for a slow node */
    /* answers that a run's text omits, because they tell the reader nothing new */
    unsigned quiet;
    /* Stored in the run's document; verdicts of other kinds are made on request */
    bool is_kept;
    bool is_result; /* shown in the last line of a run's text */
} kinds[VERDICT_KINDS] = {
#define ANSWER(id, name)
#define KIND(id, kind_name, text, ...)                                                   \
    [VERDICT_##id] = {.name = kind_name, .about = text, __VA_ARGS__},
#include "server/finding/kinds.inc"
#undef KIND
#undef ANSWER
};

static const char *const answers[VERDICT_ANSWERS] = {
#define KIND(id, name, about, ...)
#define ANSWER(id, name) [VERDICT_##id] = name,
#include "server/finding/kinds.inc"
};

static unsigned bit(enum verdict_answer answer)
{
    return 1u << answer;
}

const char *verdict_kind_name(enum verdict_kind kind)
{
    return kinds[kind].name;
}

const char *verdict_kind_about(enum verdict_kind kind)
{
    return kinds[kind].about;
}

const char *verdict_answer_name(enum verdict_answer answer)
{
    return answers[answer];
}

bool verdict_kind_has(enum verdict_kind kind, enum verdict_answer answer)
{
    return (kinds[kind].answers & bit(answer)) != 0;
}

bool verdict_kind_is_kept(enum verdict_kind kind)
{
    return kinds[kind].is_kept;
}

bool verdict_answer_is_kept(const char *text)
{
    const char *colon = strchr(text, ':');
    const char *answer = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;

    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        const char *name = kinds[kind].name;
        bool is_named = strncmp(name, text, length) == 0 && name[length] == '\0';

        if (!verdict_kind_is_kept((enum verdict_kind)kind) || (colon && !is_named))
            continue;
        for (int i = 0; i < VERDICT_ANSWERS; i++)
            if (kinds[kind].answers & bit((enum verdict_answer)i) &&
                strcmp(answers[i], answer) == 0)
                return true;
    }
    return false;
}

const char *verdict_mark(const char *backend, bool is_emulated)
{
    if (backend && strcmp(backend, "sim") == 0)
        return " (simulated)";
    return is_emulated ? " (emulated)" : "";
}

const char *verdict_mark_of(const json_t *run)
{
    if (json_object_get(run, "imported"))
        return " (imported)";
    return verdict_mark(json_get_str(run, "backend", NULL),
                        json_get_bool(run, "emulated", false));
}

json_t *verdict_json(enum verdict_kind kind, enum verdict_answer answer,
                     const char *sentence, const char *mark, json_t *nodes,
                     json_t *evidence)
{
    struct buf whole;
    json_t *text = NULL;

    assert(verdict_kind_has(kind, answer));
    buf_init(&whole, SENTENCE_MAX);
    if (buf_append_str(&whole, sentence) == 0 &&
        buf_append_str(&whole, mark ? mark : "") == 0)
        text = json_clean_string(whole.data);
    buf_release(&whole);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o*, s:o}", "kind", kinds[kind].name, "answer",
        answers[answer], "sentence", text, "nodes", nodes ? nodes : json_array(), "quiet",
        kinds[kind].quiet & bit(answer) ? json_true() : NULL, "evidence", evidence);
}

/* ---- Reading a verdict ---- */

/* Return the enum value, or VERDICT_KINDS or VERDICT_ANSWERS if the name is unknown or
 * absent. */
static enum verdict_kind kind_of(const json_t *verdict)
{
    const char *name = json_get_str(verdict, "kind", "");
    int kind = 0;

    while (kind < VERDICT_KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (enum verdict_kind)kind;
}

static enum verdict_answer answer_of(const json_t *verdict)
{
    const char *name = json_get_str(verdict, "answer", "");
    int answer = 0;

    while (answer < VERDICT_ANSWERS && strcmp(answers[answer], name) != 0)
        answer++;
    return (enum verdict_answer)answer;
}

bool verdict_is(const json_t *verdict, enum verdict_kind kind)
{
    return kind_of(verdict) == kind;
}

bool verdict_has_answer(const json_t *verdict, enum verdict_answer answer)
{
    return answer_of(verdict) == answer;
}

bool verdict_says_slow(const json_t *verdict)
{
    enum verdict_kind kind = kind_of(verdict);

    return kind < VERDICT_KINDS && (kinds[kind].slow & bit(answer_of(verdict))) != 0;
}

bool verdict_is_quiet(const json_t *verdict)
{
    enum verdict_kind kind = kind_of(verdict);

    return kind < VERDICT_KINDS && (kinds[kind].quiet & bit(answer_of(verdict))) != 0;
}

bool verdict_is_result(const json_t *verdict)
{
    enum verdict_kind kind = kind_of(verdict);

    return kind < VERDICT_KINDS && kinds[kind].is_result;
}

json_t *verdicts_find(const json_t *verdicts, enum verdict_kind kind)
{
    json_t *verdict;
    size_t i;

    json_array_foreach (verdicts, i, verdict)
        if (verdict_is(verdict, kind))
            return verdict;
    return NULL;
}

static void add_once(json_t *list, json_t *verdict)
{
    const char *answer = json_get_str(verdict, "answer", "");
    size_t i, n_alike = 0;
    json_t *one;

    json_array_foreach (list, i, one) {
        if (json_equal(json_object_get(one, "sentence"),
                       json_object_get(verdict, "sentence")))
            return;
        n_alike += strcmp(json_get_str(one, "answer", ""), answer) == 0;
    }
    if (n_alike < VERDICTS_ALIKE_MAX)
        json_array_append(list, verdict);
}

json_t *verdicts_sorted(const json_t *verdicts)
{
    json_t *of[VERDICT_KINDS], *out = json_array(), *verdict;
    size_t i;

    for (int kind = 0; kind < VERDICT_KINDS; kind++)
        of[kind] = json_array();
    json_array_foreach (verdicts, i, verdict) {
        enum verdict_kind kind = kind_of(verdict);

        if (kind < VERDICT_KINDS)
            add_once(of[kind], verdict);
    }
    for (int kind = 0; kind < VERDICT_KINDS; kind++) {
        for (int quiet = 0; quiet < 2; quiet++)
            json_array_foreach (of[kind], i, verdict)
                if (verdict_is_quiet(verdict) == (quiet == 1))
                    json_array_append(out, verdict);
        json_decref(of[kind]);
    }
    return out;
}

json_t *verdicts_judging(void)
{
    json_t *out = json_array();

    for (int kind = 0; kind < VERDICT_KINDS; kind++)
        for (int i = 0; i < VERDICT_ANSWERS; i++)
            if (kinds[kind].judging & bit((enum verdict_answer)i))
                json_array_append_new(
                    out, json_sprintf("%s:%s", kinds[kind].name, answers[i]));
    return out;
}
