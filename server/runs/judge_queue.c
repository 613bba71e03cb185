/* SPDX-License-Identifier: Apache-2.0 */
/* judge_queue.c - judges ended runs and computes their values, one run at a time */
#include "server/runs/judge_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/spec/run_spec.h"
#include "server/analysis/compare_json.h"
#include "server/analysis/gate.h"
#include "server/analysis/lasting_changes.h"
#include "server/analysis/run_values.h"
#include "server/runs/last_figures.h"
#include "server/runs/measured_run.h"
#include "server/store/run_packed.h"
#include "server/store/store_trends.h"
#include "server/store/store_work.h"

/* After this many consecutive failures, the runs are unlikely to be the cause. */
#define SKIP_MAX 16

struct job {
    STAILQ_ENTRY(job) entry;
    struct judge_queue *queue;
    struct judgement judgement;
    /* At most one of these callbacks is set. None is set if no caller waits for the
     * result. */
    run_judged *judged;
    store_settled *ready;
    void *arg;
    bool is_spare; /* true if the job computes missing values in the background */
};

struct judge_queue {
    struct store *store;
    json_t *figures;         /* borrowed */
    STAILQ_HEAD(, job) jobs; /* waiting jobs in the order of arrival */
    struct job *job;         /* the current job, or NULL */
    bool has_more;           /* true if further runs may still need values */
    size_t skip;             /* number of failed runs to skip, counted from the newest */
    bool is_closing;
};

/* ---- Comparison with other runs ---- */

#define OTHERS_MAX (RUN_SPEC_LAST_MAX + STORE_HISTORY)

struct comparison {
    struct compare_run head; /* borrowed */
    /* the runs of the base, then the runs of its history */
    struct compare_run others[OTHERS_MAX];
    size_t n_base, n;
    /* comparisons in the format of /compare: of all cases, and of the repeated cases
     * (gate.h) */
    json_t *document, *again;
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

/* Choose the cases of the runs that match cases of `head`. head NULL: choose all cases.
 */
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

/* Compare head's repeated cases with the base if `confirms` is set, else its original
 * cases. Returns NULL if no case was repeated, or with *err. */
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

/* found: the result of store_get_base(). */
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
                  query->last ? "no completed run is similar to this one"
                              : "no baseline matches this run");
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

/* Read the summary if the run's thresholds need it. */
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
        log_warn("run %s: cannot read the results that its checks need: %s",
                 json_get_str(doc, "id", ""), err.text);
    return summary;
}

/* unread: the reason why the run's values could not be read, or NULL. */
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

/* Read the next run whose values are missing. Returns 0 with *doc = NULL if there is
 * none. */
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

/* Compute a run's values and, if requested, judge its checks. Runs on a store thread
 * (store_work.h). Returns -1 with err if the run's missing values cannot be computed. */
static int judge(sqlite3 *db, struct judgement *judgement, struct error *err)
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

static void judgement_release(struct judgement *judgement)
{
    json_decref(judgement->doc);
    json_decref(judgement->values);
    json_decref(judgement->verdict);
}

static const struct error stopping = {ERROR_UNAVAILABLE, "the server is stopping"};

static void start_next(struct judge_queue *queue);

static void job_finish(struct job *job, const struct error *err)
{
    if (job->judged)
        job->judged(job->arg, err, NULL);
    else if (job->ready)
        job->ready(job->arg, err);
    judgement_release(&job->judgement);
    free(job);
}

static void finish(struct job *job, const struct error *err)
{
    struct judge_queue *queue = job->queue;

    queue->job = NULL;
    if (err && !queue->is_closing)
        log_warn("cannot derive a run's values for trends: %s", err->text);
    /* A run that fails does not block older runs. Its values are computed again when the
     * next run ends. */
    if (err && job->is_spare && ++queue->skip > SKIP_MAX)
        queue->has_more = false;
    job_finish(job, err);
    if (queue->is_closing)
        free(queue);
    else
        start_next(queue);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)events;
    (void)n_events;
    finish(arg, err && err->code != ERROR_NOT_FOUND ? err : NULL);
}

static void on_judged(void *arg, const struct error *err)
{
    struct job *job = arg;
    struct judgement *judgement = &job->judgement;
    struct judge_queue *queue = job->queue;
    json_t *values = judgement->values;
    run_judged *judged = job->judged;
    struct store_write *write;

    if (err || queue->is_closing) {
        finish(job, queue->is_closing ? &stopping : err);
        return;
    }
    job->judged = NULL;
    if (job->is_spare && !values)
        queue->has_more = false;
    if ((judged && !judged(job->arg, NULL, judgement->verdict)) || !values) {
        finish(job, NULL);
        return;
    }
    if (json_is_true(json_object_get(values, "is_whole")))
        last_figures_note(queue->figures, values);
    write = store_write_create();
    store_write_values(write, judgement->run, values);
    judgement->values = NULL;
    json_decref(values); /* drop this thread's reference, because the writer thread now
                            owns the values */
    store_submit(queue->store, write, false, on_written, job);
}

static int work(sqlite3 *db, void *arg, struct error *err)
{
    struct job *job = arg;

    return judge(db, &job->judgement, err);
}

static struct job *job_create(struct judge_queue *queue, const char *run)
{
    struct job *job = memory_zeroed(1, sizeof(*job), "a run's end");

    job->queue = queue;
    snprintf(job->judgement.run, sizeof(job->judgement.run), "%s", run);
    return job;
}

static void start_next(struct judge_queue *queue)
{
    struct job *job = STAILQ_FIRST(&queue->jobs);

    if (queue->job || queue->is_closing || (!job && !queue->has_more))
        return;
    if (job) {
        STAILQ_REMOVE_HEAD(&queue->jobs, entry);
    } else {
        job = job_create(queue, "");
        job->is_spare = true;
        job->judgement.skip = queue->skip;
    }
    queue->job = job;
    store_do(queue->store, work, on_judged, job);
}

static void add(struct judge_queue *queue, struct job *job)
{
    STAILQ_INSERT_TAIL(&queue->jobs, job, entry);
    start_next(queue);
}

void judge_queue_note_end(struct judge_queue *queue, const char *run)
{
    queue->has_more = true;
    queue->skip = 0;
    add(queue, job_create(queue, run));
}

struct judge_queue *judge_queue_create(struct store *store, json_t *figures)
{
    struct judge_queue *queue = memory_zeroed(1, sizeof(*queue), "the ends of runs");

    queue->store = store;
    queue->figures = figures;
    STAILQ_INIT(&queue->jobs);
    queue->has_more = true;
    start_next(queue);
    return queue;
}

void judge_queue_close(struct judge_queue *queue)
{
    struct job *job;

    if (!queue)
        return;
    queue->is_closing = true;
    while ((job = STAILQ_FIRST(&queue->jobs))) {
        STAILQ_REMOVE_HEAD(&queue->jobs, entry);
        job_finish(job, &stopping);
    }
    if (!queue->job)
        free(queue);
}

void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg)
{
    struct job *job = job_create(queue, "");

    job->judgement = *judgement;
    job->judged = judged;
    job->arg = arg;
    add(queue, job);
}

void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg)
{
    struct job *job = job_create(queue, run);

    job->ready = ready;
    job->arg = arg;
    add(queue, job);
}
