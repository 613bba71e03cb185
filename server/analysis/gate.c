/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - judges a run by the checks in its spec */
#include "server/analysis/gate.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"
#include "server/analysis/gate_check.h"
#include "server/finding/finding.h"

/* ---- Checks of the whole run ---- */

static void check_completed(const struct gate_run *run, struct gate_check *check)
{
    const json_t *cases = json_object_get(json_object_get(run->doc, "summary"), "cases");
    int64_t done = json_get_int(run->doc, "rows_done", 0);
    int64_t total = json_get_int(run->doc, "rows_total", 0);

    if (strcmp(run->state, "completed") != 0) {
        gate_not_evaluated(check, "the run %s%s: %s",
                           strcmp(run->state, "failed") == 0 ? "" : "was ", run->state,
                           run->reason ? run->reason : "no reason given");
        /* A cancelled run, or a run without nodes, does not count as a failure. */
        if (strcmp(run->state, "failed") == 0 && json_get_int(cases, "failed", 0) > 0)
            check->answer = VERDICT_FAIL;
    } else if (done < total) {
        gate_not_evaluated(check, "%lld of %lld expected rows are present",
                           (long long)done, (long long)total);
    } else {
        snprintf(check->sentence, sizeof(check->sentence), "the run completed");
    }
}

static void check_ranks(const struct gate_run *run, const struct threshold *threshold,
                        struct gate_check *check)
{
    int64_t ranks = json_get_int(run->doc, "world_size", 0);

    if (ranks <= 0) {
        gate_not_evaluated(check, "the run found no nodes");
        return;
    }
    check->answer =
        gate_is_within(threshold, (double)ranks) ? VERDICT_PASS : VERDICT_FAIL;
    check->evidence = gate_evidence(threshold, (double)ranks);
    gate_say(check, threshold, "{value} rank{value:/s}, " GATE_BOUNDS " required",
             json_object());
}

/* Return true if any row was checked. */
static bool any_checked(const struct summary *summary)
{
    for (size_t i = 0; i < summary->n_series; i++)
        if (summary->series[i].wrong >= 0)
            return true;
    return false;
}

/* Return the reason why the run's results are incomplete, or NULL. */
static const char *results_gap(const struct gate_run *run)
{
    if (!run->summary)
        return "the run's results cannot be read";
    if (run->summary->results < (uint64_t)json_get_int(run->doc, "rows_done", 0))
        return "some of the run's results cannot be read";
    return NULL;
}

static bool has_wrong_gap(const struct summary_point *point, char out[GATE_TEXT_MAX])
{
    char size[UNITS_TEXT_MAX];

    if (point->skipped > 0)
        snprintf(out, GATE_TEXT_MAX, "%s was skipped: %.120s",
                 units_format_size((uint64_t)point->size, size),
                 point->reason ? point->reason : "no reason given");
    else if (point->checked < point->rows)
        snprintf(out, GATE_TEXT_MAX, "some rows were not checked");
    else
        return false;
    return true;
}

/* Return the reason why wrong rows cannot be ruled out, or NULL. */
static const char *wrong_gap(const struct gate_run *run, char out[GATE_TEXT_MAX])
{
    const struct summary *summary = run->summary;
    const char *gap = results_gap(run);

    if (gap)
        return gap;
    if (!any_checked(summary))
        return "no row was checked";
    for (size_t i = 0; i < summary->n_series; i++)
        for (size_t k = 0; k < summary->series[i].n_points; k++)
            if (has_wrong_gap(&summary->series[i].points[k], out))
                return out;
    return summary->points < summary->points_total
               ? "the run contains too many rows to check"
               : NULL;
}

static void check_wrong(const struct gate_run *run, const struct threshold *threshold,
                        struct gate_check *check)
{
    int64_t wrong = json_get_int(json_object_get(run->doc, "summary"), "wrong", 0);
    bool is_within = gate_is_within(threshold, (double)wrong);
    char text[GATE_TEXT_MAX];
    const char *gap = NULL;

    /* Wrong elements count even if the run did not complete. */
    if (is_within && strcmp(run->state, "completed") != 0) {
        gate_not_completed(check, run);
        return;
    }
    if (is_within)
        gap = wrong_gap(run, text);
    if (gap) {
        gate_not_evaluated(check, "%s", gap);
        return;
    }
    check->answer = is_within ? VERDICT_PASS : VERDICT_FAIL;
    check->evidence = gate_evidence(threshold, (double)wrong);
    gate_say(check, threshold,
             "{value} wrong element{value:/s}, " GATE_BOUNDS " required", json_object());
}

static void check_threshold(const struct gate_run *run, const struct threshold *threshold,
                            struct gate_check *check)
{
    if (threshold->figure == THRESHOLD_RANKS)
        check_ranks(run, threshold, check);
    else if (threshold->figure == THRESHOLD_WRONG)
        check_wrong(run, threshold, check);
    else if (strcmp(run->state, "completed") != 0)
        gate_not_completed(check, run);
    else if (results_gap(run))
        gate_not_evaluated(check, "%s", results_gap(run));
    else if (threshold->figure == THRESHOLD_METRIC)
        gate_check_metric(run, threshold, check);
    else
        gate_check_rows(run, threshold, check);
}

/* ---- All checks ---- */

/* The combined result of all checks. */
struct tally {
    json_t *checks;
    size_t n[VERDICT_ANSWERS];
    /* For each answer, the name of the first check with that answer, and that check's
     * sentence */
    const char *first[VERDICT_ANSWERS];
    const char *why[VERDICT_ANSWERS];
    bool wants_again;
};

static void add(struct tally *tally, const char *name, struct gate_check *check)
{
    json_t *item = json_pack("{s:s, s:s, s:o}", "check", name, "answer",
                             verdict_answer_name(check->answer), "sentence",
                             json_clean_string(check->sentence));

    tally->wants_again |= check->wants_again;
    if (check->evidence)
        json_object_update(item, check->evidence);
    json_decref(check->evidence);
    json_array_append_new(tally->checks, item);
    if (tally->n[check->answer]++ == 0) {
        tally->first[check->answer] = json_get_str(item, "check", "");
        tally->why[check->answer] = json_get_str(item, "sentence", "");
    }
}

static void add_thresholds(struct tally *tally, const struct gate_run *run)
{
    json_t *thresholds = json_object_get(json_object_get(run->doc, "spec"), "thresholds");
    const char *name;
    json_t *value;

    json_object_foreach (thresholds, name, value) {
        struct gate_check check = {.answer = VERDICT_PASS};
        struct threshold threshold;
        struct problems problems;

        problems_init(&problems);
        if (threshold_read(name, value, &threshold, "", &problems))
            check_threshold(run, &threshold, &check);
        else
            gate_not_evaluated(&check, "this server does not know this kind of check");
        problems_release(&problems);
        add(tally, name, &check);
    }
}

static void add_baseline(struct tally *tally, const struct gate_run *run)
{
    struct gate_check check = {.answer = VERDICT_PASS};

    if (!json_object_get(json_object_get(run->doc, "spec"), "baseline"))
        return;
    gate_check_baseline(run, &check);
    add(tally, "baseline", &check);
}

static json_t *conclude(const struct tally *tally, const struct gate_run *run)
{
    enum verdict_answer answer = tally->n[VERDICT_FAIL] > 0 ? VERDICT_FAIL
                                 : tally->n[VERDICT_NOT_EVALUATED] > 0
                                     ? VERDICT_NOT_EVALUATED
                                     : VERDICT_PASS;
    bool is_asked = gate_is_asked(json_object_get(run->doc, "spec"));
    struct finding finding = finding_begin();

    finding_put(&finding, "{s:O, s:I, s:I, s:s*, s:s*}", "checks", tally->checks, "$n",
                (json_int_t)tally->n[answer], "$all",
                (json_int_t)json_array_size(tally->checks), "$first",
                tally->first[answer], "$why", tally->why[answer]);
    if (answer == VERDICT_PASS && !is_asked)
        return finding_end(&finding, MESSAGE_NO_CHECKS, "");
    return finding_end(&finding,
                       answer == VERDICT_FAIL   ? MESSAGE_CHECKS_FAILED
                       : answer == VERDICT_PASS ? MESSAGE_CHECKS_PASSED
                                                : MESSAGE_CHECKS_OPEN,
                       verdict_mark_of(run->doc));
}

bool gate_is_asked(const json_t *spec)
{
    return json_object_size(json_object_get(spec, "thresholds")) > 0 ||
           json_object_get(spec, "baseline");
}

json_t *gate_judge(const struct gate_run *run)
{
    struct tally tally = {.checks = json_array()};
    struct gate_check completed = {.answer = VERDICT_PASS};
    json_t *verdict;

    check_completed(run, &completed);
    add(&tally, "completed", &completed);
    add_thresholds(&tally, run);
    add_baseline(&tally, run);
    verdict = tally.wants_again ? NULL : conclude(&tally, run);
    json_decref(tally.checks);
    return verdict;
}

json_t *gate_failed(const json_t *verdict)
{
    json_t *checks = json_object_get(json_object_get(verdict, "evidence"), "checks");
    json_t *check;
    size_t i;

    json_array_foreach (checks, i, check) {
        const char *figure = json_get_str(check, "figure", "");

        if (verdict_has_answer(check, VERDICT_FAIL) &&
            strcmp(json_get_str(check, "check", ""), "completed") != 0 &&
            strcmp(figure, "wrong") != 0 && strcmp(figure, "ranks") != 0)
            return check;
    }
    return NULL;
}
