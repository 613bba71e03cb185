/* judge.c - the end of a run, from its results to its verdict, on a thread of the store
 *
 * The run's values say what it is like, which finds the runs that it is compared with.
 * They are stored once the run has ended. */
#include "server/runs/judge.h"

#include <stdio.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/spec/run_spec.h"
#include "server/analysis/compare_json.h"
#include "server/analysis/gate.h"
#include "server/analysis/lasting_changes.h"
#include "server/analysis/run_values.h"
#include "server/runs/measured_run.h"
#include "server/store/run_packed.h"

/* ---- The comparison with other runs ---- */

#define OTHERS_MAX (RUN_SPEC_LAST_MAX + STORE_HISTORY)

struct comparison {
    struct compare_run head;               /* borrowed */
    struct compare_run others[OTHERS_MAX]; /* the base, then its history */
    size_t n_base, n;
    json_t *document, *again; /* as /compare answers it; see gate.h */
    json_t *against, *lasting;
};

static int read_others(sqlite3 *db, const json_t *ids, struct comparison *comparison,
                       struct error *err)
{
    json_t *id;
    size_t i;

    json_array_foreach (ids, i, id)
        if (comparison->n < OTHERS_MAX &&
            measured_run_read(db, json_string_value(id),
                              &comparison->others[comparison->n++], err))
            return -1;
    return 0;
}

/* Those cases of the runs that are like head's (NULL: all). */
static int choose(struct compare_side *side, const struct compare_run *runs, size_t n,
                  const struct compare_side *head, struct error *err)
{
    struct compare_ask asks[OTHERS_MAX];

    for (size_t i = 0; i < n; i++)
        asks[i] = (struct compare_ask){&runs[i], -1};
    if (n > 0 && compare_side_choose(side, asks, n, NULL, err))
        return -1;
    if (head)
        compare_side_keep_alike(side, head);
    return 0;
}

/* The cases that measured the run again, or the others, compared with the base. NULL:
 * there are none, or *err. */
static json_t *compare_cases(const struct comparison *comparison, bool confirms,
                             struct error *err)
{
    const struct compare_run *base_runs = comparison->others;
    const struct compare_run *history_runs = base_runs + comparison->n_base;
    struct compare_side base = {.name = "base"}, head = {.name = "head"};
    struct compare_side history = {.name = "history"};
    const struct compare_question question = {&base, &head, &history,
                                              compare_margin_of(comparison->head.doc)};
    size_t n_history = comparison->n - comparison->n_base;
    json_t *document = NULL;

    if (choose(&head, &comparison->head, 1, NULL, err) == 0 &&
        choose(&base, base_runs, comparison->n_base, &head, err) == 0 &&
        choose(&history, history_runs, n_history, &head, err) == 0) {
        compare_side_keep_confirming(&head, confirms);
        if (head.n > 0 || !confirms)
            document = compare_json(&question, err);
    }
    compare_side_release(&base);
    compare_side_release(&head);
    compare_side_release(&history);
    return document;
}

/* found: the base, as of store_get_base. */
static int compare(sqlite3 *db, const json_t *found, struct comparison *comparison,
                   struct error *err)
{
    json_t *accepted =
        json_object_get(json_object_get(found, "baseline"), "run"); /* or NULL */
    struct error none;

    comparison->against = json_incref(json_object_get(found, "runs"));
    if (read_others(db, comparison->against, comparison, err))
        return -1;
    comparison->n_base = comparison->n;
    if (read_others(db, json_object_get(found, "history"), comparison, err))
        return -1;
    comparison->document = compare_cases(comparison, false, err);
    if (!comparison->document)
        return -1;
    comparison->again = compare_cases(comparison, true, &none);
    comparison->lasting = json_pack(
        "{s:O?, s:o}", "accepted", accepted, "changes",
        lasting_changes(json_object_get(found, "series"), json_string_value(accepted),
                        compare_margin_of(comparison->head.doc)));
    return 0;
}

static int find_and_compare(sqlite3 *db, const struct store_base_query *query,
                            struct comparison *comparison, struct error *err)
{
    json_t *found = store_get_base(db, query, err);
    int result = -1;

    if (found && json_array_size(json_object_get(found, "runs")) > 0)
        result = compare(db, found, comparison, err);
    else if (found)
        error_set(err, ERROR_NOT_FOUND, "%s",
                  query->last ? "there is no completed run like it"
                              : "there is no baseline that it is like");
    json_decref(found);
    return result;
}

static void comparison_release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->n; i++)
        measured_run_release(&comparison->others[i]);
    json_decref(comparison->document);
    json_decref(comparison->again);
    json_decref(comparison->against);
    json_decref(comparison->lasting);
}

/* ---- The checks ---- */

/* Where thresholds ask for them. */
static struct summary *read_summary(sqlite3 *db, const json_t *doc)
{
    static const struct summary_query query = {
        .up_to = INT64_MAX, .points = SIZE_MAX, .by = SUMMARY_BY_COMBINATION};
    const json_t *spec = json_object_get(doc, "spec");
    struct summary *summary;
    struct error err;

    if (json_object_size(json_object_get(spec, "thresholds")) == 0)
        return NULL;
    summary = store_get_summary(db, doc, &query, &err);
    if (!summary)
        log_warn("run %s: can't read its results to judge them: %s",
                 json_get_str(doc, "id", ""), err.text);
    return summary;
}

/* unread: why the run has no values, or NULL. */
static json_t *judge_checks(sqlite3 *db, struct judgement *judgement,
                            const struct compare_run *run, const char *unread)
{
    const json_t *spec = json_object_get(run->doc, "spec");
    struct summary *summary = read_summary(db, run->doc);
    struct comparison comparison = {.head = *run};
    struct error err = {ERROR_NONE, ""};
    struct gate_run gate = {.doc = run->doc,
                            .state = json_get_str(run->doc, "state", ""),
                            .summary = summary,
                            .not_compared = unread};
    json_t *verdict;

    judgement->base.run = json_get_str(run->doc, "id", "");
    judgement->base.values = judgement->values;
    if (judgement->values && json_object_get(spec, "baseline") &&
        find_and_compare(db, &judgement->base, &comparison, &err))
        gate.not_compared = err.text;
    gate.compared = comparison.document;
    gate.again = comparison.again;
    gate.against = comparison.against;
    gate.lasting = comparison.lasting;
    gate.not_again = judgement->not_again[0] ? judgement->not_again : NULL;
    verdict = gate_judge(&gate);
    comparison_release(&comparison);
    summary_destroy(summary);
    return verdict;
}

/* ---- The run ---- */

/* 0 where no values are due as well. */
static int read_due(sqlite3 *db, const struct judgement *judgement, json_t **doc,
                    struct error *err)
{
    const char *run = judgement->run[0] ? judgement->run : NULL;

    *doc = store_get_due(db, run, judgement->skip, err);
    if (!json_is_null(*doc))
        return *doc ? 0 : -1;
    *doc = NULL;
    return 0;
}

int judge(sqlite3 *db, struct judgement *judgement, struct error *err)
{
    struct compare_run run = {.doc = run_unpack(json_copy(judgement->doc))};
    int result = run.doc ? 0 : read_due(db, judgement, &run.doc, err);

    if (run.doc)
        result = measured_run_read(db, "", &run, err);
    if (run.values) {
        judgement->values = run_values_json(run.doc, run.values);
        snprintf(judgement->run, sizeof(judgement->run), "%s",
                 json_get_str(run.doc, "id", ""));
    }
    if (judgement->doc) {
        judgement->verdict = judge_checks(db, judgement, &run, result ? err->text : NULL);
        result = 0;
    }
    measured_run_release(&run);
    return result;
}

void judgement_release(struct judgement *judgement)
{
    json_decref(judgement->doc);
    json_decref(judgement->values);
    json_decref(judgement->verdict);
}
