/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - answers with statistics from which the web page draws a run without reading
 * its events */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/summary_answer.h"
#include "server/api/task.h"
#include "server/store/store_work.h"

json_t *summary_combinations(const json_t *run)
{
    const json_t *described = json_object_get(run, "cases");
    size_t n_cases;
    struct summary_case *cases = summary_cases(run, &n_cases);
    json_t *list = json_array();

    if (!cases)
        memory_out("a summary");
    for (size_t i = 0; i < n_cases; i++) {
        size_t number = (size_t)cases[i].combination;
        const json_t *c = json_array_get(described, i);

        if (number == json_array_size(list))
            json_array_append_new(list, json_pack("{s:i, s:O?, s:O*, s:[]}",
                                                  "combination", (int)number, "env",
                                                  json_object_get(c, "env"), "nodes",
                                                  json_object_get(c, "nodes"), "cases"));
        json_array_append_new(json_object_get(json_array_get(list, number), "cases"),
                              json_integer((json_int_t)i));
    }
    free(cases);
    return list;
}

static int put_member(struct buf *out, const char *name, const json_t *value)
{
    buf_printf(out, "\"%s\":", name);
    return json_append(value, out) || buf_append_str(out, ",\n") ? -1 : 0;
}

int summary_answer_write(const json_t *run, const struct summary *summary,
                         struct buf *out)
{
    json_t *combinations = summary_combinations(run);
    int result = -1;

    if (buf_append_str(out, "{") == 0 && put_member(out, "run", run) == 0 &&
        put_member(out, "combinations", combinations) == 0 &&
        buf_append_str(out, summary->json) == 0)
        result = buf_append_str(out, "}\n");
    json_decref(combinations);
    return result;
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    const struct summary_query query = {.up_to = task->head,
                                        .points = (size_t)task->params.summary.points,
                                        .by = task->params.summary.by};
    struct summary *summary = store_get_summary(db, task->run, &query, err);
    int result = summary ? summary_answer_write(task->run, summary, &task->out) : 0;

    if (result)
        task_too_large(err);
    summary_destroy(summary);
    return summary && result == 0 ? 0 : -1;
}

void api_run_summary(struct http_request *request, void *arg)
{
    task_start(arg, request, &summary_route, TASK_SETTLED_RUN, STORE_LONG, answer);
}
