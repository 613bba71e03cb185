/* verdict.c - what the server says of figures */
#include "server/finding/verdict.h"

#include <assert.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"

#define SENTENCE_MAX ((size_t)16 << 10)
#define HAS(answer) (1u << (answer))

static const struct {
    const char *name, *about;
    unsigned answers;
} kinds[VERDICT_KINDS] = {
    [VERDICT_COMPARE] = {"compare", "how one side does against another",
                         HAS(VERDICT_BETTER) | HAS(VERDICT_MIXED) | HAS(VERDICT_WORSE) |
                             HAS(VERDICT_SAME) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_GATE] = {"gate", "whether a run passes the checks that its spec names",
                      HAS(VERDICT_PASS) | HAS(VERDICT_FAIL) | HAS(VERDICT_NOT_EVALUATED)},
    [VERDICT_CHANGE] = {"change", "whether a figure's level changed over runs",
                        HAS(VERDICT_BETTER) | HAS(VERDICT_WORSE) | HAS(VERDICT_NONE) |
                            HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_CULPRIT] = {"culprit", "which node, link or rack is slow",
                         HAS(VERDICT_SLOW_NODE) | HAS(VERDICT_SLOW_LINK) |
                             HAS(VERDICT_SLOW_RACK) | HAS(VERDICT_NONE) |
                             HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_PROJECTION] = {"projection", "what a run would measure on more nodes",
                            HAS(VERDICT_PROJECTED) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_BUDGET] = {"budget", "what the communication of a step would take",
                        HAS(VERDICT_ESTIMATED) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_HANG] = {"hang", "who holds up a case in which no rank gets on",
                      HAS(VERDICT_LAGGING_RANK) | HAS(VERDICT_NO_RANK) |
                          HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_TRANSPORT] = {"transport", "whether bytes went by the ways that they could",
                           HAS(VERDICT_OK) | HAS(VERDICT_FINDING) |
                               HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_PREFLIGHT] = {"preflight", "what keeps nodes from what they could do",
                           HAS(VERDICT_OK) | HAS(VERDICT_FINDING) |
                               HAS(VERDICT_NOT_EVALUATED)},
    [VERDICT_CEILING] = {"ceiling", "the bus bandwidth that the nodes' links allow",
                         HAS(VERDICT_EXPECTED) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_LATENESS] = {"lateness", "whether a rank comes late to what all wait for",
                          HAS(VERDICT_LATE_RANK) | HAS(VERDICT_NONE) |
                              HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_TRAFFIC] =
        {"traffic", "whether the network carried what collectives move between nodes",
         HAS(VERDICT_BY_NETWORK) | HAS(VERDICT_PARTLY) | HAS(VERDICT_ANOTHER_WAY) |
             HAS(VERDICT_WITHIN_NODES) | HAS(VERDICT_NOT_EVALUATED)},
    [VERDICT_TOPOLOGY] = {"topology", "whether NCCL takes a run's nodes to be alike",
                          HAS(VERDICT_SAME) | HAS(VERDICT_DIFFERS) |
                              HAS(VERDICT_NOT_ENOUGH_DATA)},
};

static const char *const answers[VERDICT_ANSWERS] = {
    [VERDICT_BETTER] = "better",
    [VERDICT_WORSE] = "worse",
    [VERDICT_SAME] = "same",
    [VERDICT_MIXED] = "mixed",
    [VERDICT_NOT_ENOUGH_DATA] = "not_enough_data",
    [VERDICT_PASS] = "pass",
    [VERDICT_FAIL] = "fail",
    [VERDICT_NOT_EVALUATED] = "not_evaluated",
    [VERDICT_SLOW_NODE] = "slow_node",
    [VERDICT_SLOW_LINK] = "slow_link",
    [VERDICT_SLOW_RACK] = "slow_rack",
    [VERDICT_LATE_RANK] = "late_rank",
    [VERDICT_LAGGING_RANK] = "lagging_rank",
    [VERDICT_NONE] = "none",
    [VERDICT_NO_RANK] = "no_rank",
    [VERDICT_PROJECTED] = "projected",
    [VERDICT_ESTIMATED] = "estimated",
    [VERDICT_OK] = "ok",
    [VERDICT_FINDING] = "finding",
    [VERDICT_EXPECTED] = "expected",
    [VERDICT_WITHIN_NODES] = "within_nodes",
    [VERDICT_BY_NETWORK] = "by_network",
    [VERDICT_PARTLY] = "partly",
    [VERDICT_ANOTHER_WAY] = "another_way",
    [VERDICT_DIFFERS] = "differs",
};

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
    return (kinds[kind].answers & HAS(answer)) != 0;
}

bool verdict_kind_is_kept(enum verdict_kind kind)
{
    const unsigned kept = 1u << VERDICT_GATE | 1u << VERDICT_CULPRIT |
                          1u << VERDICT_LATENESS | 1u << VERDICT_HANG |
                          1u << VERDICT_TRANSPORT | 1u << VERDICT_PREFLIGHT |
                          1u << VERDICT_CEILING | 1u << VERDICT_TRAFFIC;

    return (kept & 1u << kind) != 0;
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
            if (kinds[kind].answers & HAS(i) && strcmp(answers[i], answer) == 0)
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
                     const char *sentence, const char *mark, json_t *evidence)
{
    struct buf whole;
    json_t *text = NULL;

    assert(verdict_kind_has(kind, answer));
    buf_init(&whole, SENTENCE_MAX);
    if (buf_append_str(&whole, sentence) == 0 &&
        buf_append_str(&whole, mark ? mark : "") == 0)
        text = json_clean_string(whole.data);
    buf_release(&whole);
    if (!text)
        json_decref(evidence);
    return text ? json_pack("{s:s, s:s, s:o, s:o}", "kind", kinds[kind].name, "answer",
                            answers[answer], "sentence", text, "evidence", evidence)
                : NULL;
}
