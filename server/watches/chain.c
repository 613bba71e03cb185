/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - what follows when a run of a watch has ended */
#include "server/watches/chain.h"

#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/gate.h"
#include "server/plan/follow_up.h"
#include "server/runs/scheduler.h"

static json_t *baseline_check(const json_t *run)
{
    const json_t *gate = verdicts_find(json_object_get(run, "verdicts"), VERDICT_GATE);

    return json_find(json_object_get(json_object_get(gate, "evidence"), "checks"),
                     "check", "baseline");
}

static enum verdict_answer answer_of(const json_t *verdict)
{
    static const enum verdict_answer known[] = {VERDICT_PASS,      VERDICT_FAIL,
                                                VERDICT_SLOW_NODE, VERDICT_SLOW_LINK,
                                                VERDICT_SLOW_RACK, VERDICT_NONE};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (verdict_says(verdict, known[i]))
            return known[i];
    return verdict_says(verdict, VERDICT_SLOW_TOGETHER) ? VERDICT_NONE
                                                        : VERDICT_NOT_EVALUATED;
}

/* Links between neighbours in a ring are among all pairs only: up to so many nodes. */
#define ALL_PAIRS_MAX 64

json_t *chain_pairs(const json_t *run)
{
    json_t *follow_up = follow_up_of(run);
    json_t *spec = json_incref(json_object_get(follow_up, "spec"));
    size_t n = json_array_size(json_object_get(run, "nodes"));

    if (spec && n <= ALL_PAIRS_MAX)
        json_object_set_new(spec, "rounds", json_integer((json_int_t)n - 1));
    json_decref(follow_up);
    return spec;
}

/* The run with which a figure became slower for good, though each run was within the
 * range of those before; borrowed, or NULL. */
static const char *lasting_of(const json_t *check)
{
    json_t *changes = json_object_get(json_object_get(check, "lasting"), "changes");
    const json_t *change;
    size_t i;

    json_array_foreach (changes, i, change)
        if (json_get_bool(change, "slower", false))
            return json_get_str(change, "run", "");
    return NULL;
}

static bool has_pattern(const json_t *run, const char *pattern)
{
    return strcmp(json_get_str(json_object_get(run, "spec"), "pattern", "all"),
                  pattern) == 0;
}

void chain_judge(const json_t *run, const char *lasting, struct chain_step *step)
{
    const char *reason = json_get_str(run, "reason", "");
    bool is_pairs = has_pattern(run, "pairs");
    const json_t *verdict = verdicts_find(json_object_get(run, "verdicts"),
                                          is_pairs ? VERDICT_CULPRIT : VERDICT_GATE);
    const json_t *check = baseline_check(run);

    *step = (struct chain_step){.answer = VERDICT_NOT_EVALUATED, .sentence = reason};
    if (strcmp(json_get_str(run, "state", ""), "cancelled") == 0) {
        step->has_yielded =
            strncmp(reason, SCHEDULER_YIELDED, strlen(SCHEDULER_YIELDED)) == 0;
        return;
    }
    step->answer = answer_of(verdict);
    step->sentence = json_get_str(verdict, "sentence", reason);
    if (is_pairs) {
        step->has_judged = step->answer != VERDICT_NOT_EVALUATED;
        if (json_array_size(json_object_get(verdict, "nodes")) > 0)
            step->named = json_object_get(verdict, "nodes");
        return;
    }
    step->was_alarm = json_object_get(check, "again") != NULL;
    step->is_unconfirmed = step->was_alarm && verdict_says(check, VERDICT_PASS);
    step->lasting = lasting_of(check);
    if ((step->answer == VERDICT_FAIL && gate_failed(verdict)) ||
        (step->lasting && !(lasting && strcmp(lasting, step->lasting) == 0)))
        step->follow_up = chain_pairs(run);
    step->has_judged = step->answer == VERDICT_PASS && !step->follow_up;
}

/* The band that is worst by its change, of those that are judged. */
static const json_t *worst_band(const json_t *comparison)
{
    const json_t *worst = NULL, *band;
    double least = 0;
    size_t i;

    json_array_foreach (json_object_get(json_object_get(comparison, "evidence"), "bands"),
                        i, band) {
        double change = json_get_num(band, "change", 0);
        double gain = json_get_bool(band, "higher_is_better", true) ? change : -change;

        if (!worst || gain < least) {
            worst = band;
            least = gain;
        }
    }
    return worst;
}

json_t *chain_level(const json_t *run)
{
    const json_t *check = baseline_check(run), *again = json_object_get(check, "again");
    const json_t *band = worst_band(again ? again : json_object_get(check, "comparison"));
    const json_t *headline = json_object_get(json_object_get(run, "summary"), "headline");
    double usual = json_get_num(band, "usual", 0), base = json_get_num(band, "base", 0);

    if (!has_pattern(run, "all"))
        return NULL;
    if (band && usual > 0)
        return json_pack("{s:O, s:O, s:f, s:f}", "figure",
                         json_object_get(band, "figure"), "level",
                         json_object_get(band, "head"), "low", base / (1 + usual), "high",
                         base * (1 + usual));
    if (!json_object_get(headline, "busbw_gbs"))
        return NULL;
    return json_pack("{s:s, s:O, s:n, s:n}", "figure", "busbw_gbs", "level",
                     json_object_get(headline, "busbw_gbs"), "low", "high");
}
