/* verdict.c - what the server says of figures */
#include "server/analysis/verdict.h"

#include <assert.h>

#define HAS(answer) (1u << (answer))

static const struct {
    const char *name, *about;
    unsigned answers;
} kinds[VERDICT_KINDS] = {
    [VERDICT_COMPARE] = {"compare", "how the cases of one side do against another's",
                         HAS(VERDICT_BETTER) | HAS(VERDICT_WORSE) | HAS(VERDICT_SAME) |
                             HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_GATE] = {"gate", "whether a run passes the checks that its spec names",
                      HAS(VERDICT_PASS) | HAS(VERDICT_FAIL) | HAS(VERDICT_NOT_EVALUATED)},
    [VERDICT_CHANGE] = {"change", "whether a figure's level changed over runs",
                        HAS(VERDICT_BETTER) | HAS(VERDICT_WORSE) | HAS(VERDICT_SAME) |
                            HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_CULPRIT] = {"culprit", "which node, link or rack is slow",
                         HAS(VERDICT_SLOW_NODE) | HAS(VERDICT_SLOW_LINK) |
                             HAS(VERDICT_SLOW_RACK) | HAS(VERDICT_NONE) |
                             HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_PROJECTION] = {"projection", "what a run would measure on more nodes",
                            HAS(VERDICT_PROJECTED) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_BUDGET] = {"budget", "what the communication of a step would take",
                        HAS(VERDICT_ESTIMATED) | HAS(VERDICT_NOT_ENOUGH_DATA)},
    [VERDICT_LATENESS] = {"lateness", "whether a rank comes late to what all wait for",
                          HAS(VERDICT_LATE_RANK) | HAS(VERDICT_NONE) |
                              HAS(VERDICT_NOT_ENOUGH_DATA)},
};

static const char *const answers[VERDICT_ANSWERS] = {
    [VERDICT_BETTER] = "better",
    [VERDICT_WORSE] = "worse",
    [VERDICT_SAME] = "same",
    [VERDICT_NOT_ENOUGH_DATA] = "not_enough_data",
    [VERDICT_PASS] = "pass",
    [VERDICT_FAIL] = "fail",
    [VERDICT_NOT_EVALUATED] = "not_evaluated",
    [VERDICT_SLOW_NODE] = "slow_node",
    [VERDICT_SLOW_LINK] = "slow_link",
    [VERDICT_SLOW_RACK] = "slow_rack",
    [VERDICT_LATE_RANK] = "late_rank",
    [VERDICT_NONE] = "none",
    [VERDICT_PROJECTED] = "projected",
    [VERDICT_ESTIMATED] = "estimated",
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

json_t *verdict_json(enum verdict_kind kind, enum verdict_answer answer,
                     const char *sentence, json_t *evidence)
{
    assert(verdict_kind_has(kind, answer));
    return json_pack("{s:s, s:s, s:s, s:o}", "kind", kinds[kind].name, "answer",
                     answers[answer], "sentence", sentence, "evidence", evidence);
}
