/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - compares runs, or some of their cases, with others */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/compare_json.h"
#include "server/api/handlers.h"
#include "server/api/run_set.h"
#include "server/render/compare_text.h"

/* maximum number of runs and cases per side */
#define ASKS_MAX ((RUN_SET_MAX - STORE_HISTORY) / 2)
#define BASELINE "baseline" /* value of `base` in place of a run's id; ids are longer */

struct side {
    const char *name, *env_name; /* names of the query parameters */
    struct ask {
        size_t run; /* index in comparison->set */
        int case_no;
    } asks[ASKS_MAX];
    size_t n;
    json_t *env;
    bool is_baseline; /* use the baseline of head's first run */
};

struct comparison {
    struct run_set set;
    struct side base, head;
    struct side history; /* earlier runs that are similar to the base run */
    /* keep only those cases of a baseline that set the same variables as head's cases */
    bool is_alike;
};

/* ---- Reading the request ---- */

struct reading {
    struct task *task;
    struct comparison *comparison;
    struct side *side;
    struct error *err;
    bool is_bad;
};

static void refuse(struct reading *reading, const char *must, const char *value)
{
    reading->is_bad = true;
    task_refuse(reading->task, 422, reading->err,
                "the parameter %s must be %s, not %.80s", reading->side->name, must,
                value);
}

/* Parse RUN or RUN:CASE. */
static void take_ask(void *arg, const char *value)
{
    struct reading *reading = arg;
    struct side *side = reading->side;
    size_t len = strcspn(value, ":");
    int64_t case_no = -1;

    if (reading->is_bad)
        return;
    if (strcmp(value, BASELINE) == 0 && side == &reading->comparison->base) {
        side->is_baseline = true;
    } else if (len == 0 || len > ID_RUN_LENGTH ||
               (value[len] &&
                params_parse_integer(value + len + 1, 0, INT32_MAX - 1, &case_no))) {
        refuse(reading, "a run's id or RUN:CASE", value);
    } else if (side->n == ASKS_MAX) {
        reading->is_bad = true;
        task_refuse(reading->task, 422, reading->err,
                    "the parameter %s may be given at most %d times", side->name,
                    ASKS_MAX);
    } else {
        side->asks[side->n++] = (struct ask){
            run_set_add(&reading->comparison->set, value, len), (int)case_no};
    }
}

/* Parse NAME=VALUE. NAME alone selects cases without the variable. */
static void take_env(void *arg, const char *value)
{
    struct reading *reading = arg;
    size_t len = strcspn(value, "=");
    char name[256];

    if (len == 0 || len >= sizeof(name)) {
        reading->is_bad = true;
        task_refuse(
            reading->task, 422, reading->err,
            "the parameter %s must be NAME=VALUE, or NAME for a variable that is not set",
            reading->side->env_name);
        return;
    }
    memcpy(name, value, len);
    name[len] = '\0';
    json_object_set_new(reading->side->env, name,
                        value[len] ? json_string(value + len + 1) : json_null());
}

static int read_side(struct task *task, struct comparison *comparison, struct side *side,
                     struct error *err)
{
    struct reading reading = {task, comparison, side, err, false};

    side->env = json_object();
    http_request_query_each(task->request, side->name, take_ask, &reading);
    http_request_query_each(task->request, side->env_name, take_env, &reading);
    return reading.is_bad ? -1 : 0;
}

static int read_sides(struct task *task, struct comparison *comparison, struct error *err)
{
    struct side *base = &comparison->base, *head = &comparison->head;

    if (read_side(task, comparison, base, err) || read_side(task, comparison, head, err))
        return -1;
    if (base->is_baseline && (base->n > 0 || head->n == 0))
        return task_refuse(task, 422, err,
                           "base=baseline allows no other base and needs the parameter "
                           "head with a run's id");
    if (!base->is_baseline && base->n == 0)
        return task_refuse(
            task, 422, err,
            "the parameter base is missing: set it to a run's id, RUN:CASE or baseline");
    /* By default, use only those cases of a baseline that set the same variables as
     * head's cases. */
    comparison->is_alike = base->is_baseline && json_object_size(base->env) == 0;
    /* Without the parameter head, compare two combinations of the base run. */
    if (head->n == 0) {
        memcpy(head->asks, base->asks, sizeof(head->asks));
        head->n = base->n;
    }
    return 0;
}

/* ---- A baseline, and the history of base ---- */

static void take_runs(struct comparison *comparison, const json_t *runs,
                      struct side *side)
{
    json_t *id;
    size_t i;

    json_array_foreach (runs, i, id)
        if (side->n < ASKS_MAX)
            side->asks[side->n++] =
                (struct ask){run_set_add(&comparison->set, json_string_value(id),
                                         json_string_length(id)),
                             -1};
}

/* A comparison of two single runs also reads earlier runs similar to base. They show how
 * much results scatter between runs. */
static bool needs_history(const struct comparison *comparison)
{
    const struct side *base = &comparison->base, *head = &comparison->head;

    return !base->is_baseline && comparison->set.n == 2 &&
           base->asks[0].run != head->asks[0].run;
}

static int find_base(sqlite3 *db, const struct task *task, struct comparison *comparison,
                     struct error *err)
{
    const struct compare_params *params = &task->params.compare;
    const struct side *base = &comparison->base;
    const char *head = comparison->set.ids[comparison->head.asks[0].run];
    struct store_base_query query = {
        .run = head, .last = (int)params->last, .likeness = params->likeness};
    json_t *found;

    if (!base->is_baseline) {
        query.last = 0;
        query.base = comparison->set.ids[base->asks[0].run];
    }
    found = store_get_base(db, &query, err);
    if (!found)
        return -1;
    if (base->is_baseline)
        take_runs(comparison, json_object_get(found, "runs"), &comparison->base);
    take_runs(comparison, json_object_get(found, "history"), &comparison->history);
    json_decref(found);
    if (base->n > 0)
        return 0;
    return error_set(err, ERROR_NOT_FOUND,
                     params->last
                         ? "no earlier completed run is like run %s"
                         : "no baseline is like run %s: accept a run as baseline on the "
                           "page, or with POST /api/v1/baselines; or compare with "
                           "the last comparable runs (last=N)",
                     head);
}

/* ---- The comparison ---- */

static int choose(const struct comparison *comparison, const struct side *from,
                  struct compare_side *side, struct error *err)
{
    struct compare_ask asks[ASKS_MAX];

    for (size_t i = 0; i < from->n; i++)
        asks[i] = (struct compare_ask){&comparison->set.runs[from->asks[i].run],
                                       from->asks[i].case_no};
    side->name = from->name;
    return compare_side_choose(side, asks, from->n, from->env, err);
}

/* Return the comparison as a new JSON object, or NULL with err. */
static json_t *compare(const struct task *task, const struct comparison *comparison,
                       struct error *err)
{
    size_t first = comparison->head.asks[0].run;
    double margin = task->params.compare.margin_percent / 100;
    struct compare_side base = {0}, head = {0}, history = {0};
    json_t *document = NULL;

    if (margin <= 0)
        margin = compare_margin_of(comparison->set.runs[first].doc);
    if (choose(comparison, &comparison->base, &base, err) == 0 &&
        choose(comparison, &comparison->head, &head, err) == 0 &&
        (comparison->history.n == 0 ||
         choose(comparison, &comparison->history, &history, err) == 0) &&
        compare_sides_check(&base, &head, err) == 0) {
        if (comparison->is_alike)
            compare_side_keep_alike(&base, &head);
        compare_side_keep_alike(&history, &base);
        document =
            compare_json(&(struct compare_question){&base, &head, &history, margin}, err);
    }
    compare_side_release(&base);
    compare_side_release(&head);
    compare_side_release(&history);
    return document;
}

static int write_document(struct task *task, const json_t *document, struct error *err)
{
    enum form form = (enum form)task->params.compare.format->value;

    task_header(task, "Ringbench-Verdict",
                json_get_str(json_object_get(document, "verdict"), "answer", ""));
    if (compare_write(document, form, &task->out))
        return task_too_large(err);
    return 0;
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    struct comparison *comparison = memory_zeroed(1, sizeof(*comparison), "a comparison");
    json_t *document = NULL;
    int result = -1;

    comparison->base.name = "base";
    comparison->base.env_name = "base_env";
    comparison->head.name = "head";
    comparison->head.env_name = "head_env";
    comparison->history.name = "history";
    if (read_sides(task, comparison, err))
        goto out;
    if ((comparison->base.is_baseline || needs_history(comparison)) &&
        find_base(db, task, comparison, err))
        goto out;
    if (run_set_read(db, task, &comparison->set, err))
        goto out;
    document = compare(task, comparison, err);
    if (document)
        result = write_document(task, document, err);
    else if (err->code == ERROR_INVALID)
        task->status = 422;
out:
    json_decref(document);
    run_set_release(&comparison->set);
    json_decref(comparison->base.env);
    json_decref(comparison->head.env);
    free(comparison);
    return result;
}

static void give(void *arg, const char *value)
{
    run_set_give(arg, value, strcspn(value, ":"));
}

/* Copy the first run's id. The values of similar runs must be stored before the
 * comparison. */
static void take_first(void *arg, const char *value)
{
    char *id = arg;

    if (!*id)
        snprintf(id, ID_RUN_LENGTH + 1, "%.*s", (int)strcspn(value, ":"), value);
}

void api_compare(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &compare_route);
    const char *base;

    if (!task)
        return;
    base = http_request_query(request, "base");
    http_request_query_each(request, "base", give, task);
    http_request_query_each(request, "head", give, task);
    task->own = memory_zeroed(1, ID_RUN_LENGTH + 1, "a comparison");
    http_request_query_each(request,
                            base && strcmp(base, BASELINE) == 0 ? "head" : "base",
                            take_first, task->own);
    if (*(const char *)task->own)
        task->values_of = task->own;
    task_run(task, TASK_SETTLED_RUNS, STORE_HEAVY, answer);
}
