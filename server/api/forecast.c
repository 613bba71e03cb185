/* SPDX-License-Identifier: Apache-2.0 */
/* forecast.c - predicts, from a run's figures, the bandwidth on more nodes or the
 * communication time of a training step */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/budget.h"
#include "server/analysis/projection.h"
#include "server/api/handlers.h"
#include "server/api/run_set.h"

/* Write an answer that contains a verdict. Takes the reference to `answer`, which is NULL
 * after an error. */
static int reply(struct task *task, json_t *answer, struct error *err)
{
    const json_t *verdict = json_object_get(answer, "verdict");
    const char *word = json_get_str(verdict, "answer", "?");

    if (!answer && err->code == ERROR_INVALID)
        task->status = 422;
    if (!answer)
        return -1;
    task_header(task, "Ringbench-Verdict", word);
    if (task->params.any.format->value == FORM_JSON)
        return task_json(task, answer);
    buf_printf(&task->out, "%s: %s\n", word, json_get_str(verdict, "sentence", ""));
    json_decref(answer);
    return 0;
}

/* ---- More nodes ---- */

static int project(sqlite3 *db, struct task *task, struct error *err)
{
    int64_t nodes = task->params.projection.nodes;
    struct run_set *set = memory_zeroed(1, sizeof(*set), "a projection");
    int result;

    run_set_add(set, task->run_id, strlen(task->run_id));
    result = nodes > 0 ? run_set_read(db, task, set, err)
                       : task_refuse(task, 422, err,
                                     "the parameter nodes is missing: set it to the "
                                     "number of nodes to project to");
    if (result == 0)
        result = reply(task, projection_json(set->runs, (size_t)nodes), err);
    run_set_release(set);
    free(set);
    return result;
}

static void give(void *arg, const char *id)
{
    run_set_give(arg, id, strlen(id));
}

void api_run_projection(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &projection_route);

    if (!task)
        return;
    if (http_request_query(request, "run")) {
        http_reply_problem(
            request, 422, NULL,
            "there is no parameter run: a projection uses only the run in the path. "
            "Measure several numbers of nodes in one run, with the pattern scaling");
        task_free(task);
        return;
    }
    give(task, task->run_id);
    task_run(task, TASK_SETTLED_RUNS, STORE_HEAVY, project);
}

/* ---- A training step ---- */

static int answer_budget(sqlite3 *db, struct task *task, struct error *err)
{
    const struct budget *budget = task->own;
    struct run_set *set = memory_zeroed(1, sizeof(*set), "a budget");
    int result;

    run_set_add(set, budget->run, strlen(budget->run));
    result = run_set_read(db, task, set, err);
    if (result == 0)
        result = reply(task, budget_json(budget, set->runs), err);
    run_set_release(set);
    free(set);
    return result;
}

void api_budget(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &budget_route);
    struct budget *budget;

    if (!task)
        return;
    budget = task->own = memory_zeroed(1, sizeof(*budget), "a budget");
    if (!params_read_body(request, &budget_fields, budget,
                          "the budget cannot be calculated")) {
        task_free(task);
        return;
    }
    give(task, budget->run);
    task_run(task, TASK_SETTLED_RUNS, STORE_HEAVY, answer_budget);
}
