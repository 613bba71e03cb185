/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - lists runs, shows a run, cancels it and deletes it */
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/finding/verdict.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/task.h"
#include "server/plan/follow_up.h"
#include "server/store/run_packed.h"

#define LIST_BYTES_MAX ((size_t)256 << 20)

/* Append a run of the list. The stored text of an unfinished run may be old, so use the
 * document in memory. */
static int append_item(const struct task *task, const json_t *item, struct buf *out)
{
    const char *id = json_get_str(item, "id", "");
    json_t *live = scheduler_run_listed(task->api->scheduler, id);
    int result = live ? json_append(live, out)
                      : buf_append_str(out, json_get_str(item, "text", ""));

    json_decref(live);
    return result;
}

/* Write the list by joining stored texts. Parsing and printing them would take most of
 * the time of a request. */
static int list_text(const struct task *task, struct buf *out)
{
    const json_t *item;
    size_t i;

    buf_append_str(out, "{\"runs\":[");
    json_array_foreach (json_object_get(task->given, "runs"), i, item)
        if ((i > 0 && buf_append_str(out, ",")) || append_item(task, item, out))
            return -1;
    buf_append_str(out, "],\"next\":");
    json_append(json_object_get(task->given, "next"), out);
    buf_append_str(out, ",\"total\":");
    json_append(json_object_get(task->given, "total"), out);
    return buf_append_str(out, "}\n");
}

/* Runs on the loop's thread, which owns the documents of unfinished runs. */
static int finish_list(struct task *task, struct error *err)
{
    const struct params_format *format = task->params.run_list.format;
    const char *next = json_get_str(task->given, "next", NULL);
    struct buf text;
    json_t *list;
    int result;

    if (format->value == FORM_JSON) {
        if (next)
            task_link_next(task, "cursor", next);
        return list_text(task, &task->out) ? task_too_large(err) : 0;
    }
    buf_init(&text, LIST_BYTES_MAX);
    result = list_text(task, &text) ? task_too_large(err) : 0;
    list = result ? NULL : json_parse(text.data, text.len, err);
    if (!list || lists_write(task, LIST_RUNS, list, format, err))
        result = -1;
    json_decref(list);
    buf_release(&text);
    return result;
}

static bool are_answers(struct http_request *request, const struct param_texts *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        if (!verdict_answer_is_kept(answers->at[i])) {
            http_reply_problem(request, 422, NULL,
                               "the parameter verdict must be an answer of a verdict on "
                               "runs or KIND:ANSWER, such as fail, slow_node or "
                               "preflight:finding, not %.60s",
                               answers->at[i]);
            return false;
        }
    return true;
}

static int read_list(sqlite3 *db, struct task *task, struct error *err)
{
    task->given =
        store_get_runs(db, params_json(task->route, &task->params.run_list), err);
    return task->given ? 0 : -1;
}

void api_run_list(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &run_list_route);

    if (!task)
        return;
    if (!are_answers(request, &task->params.run_list.answers)) {
        task_free(task);
        return;
    }
    task->finish = finish_list;
    task_run(task, TASK_NO_RUN, STORE_KEYED, read_list);
}

static int show_run(struct task *task, struct error *err)
{
    return run_packed_append(task->run, &task->out) || buf_append_str(&task->out, "\n")
               ? task_too_large(err)
               : 0;
}

static int show(sqlite3 *db, struct task *task, struct error *err)
{
    json_t *follow_up = follow_up_of(task->run);

    (void)db;
    if (follow_up)
        json_object_set_new(task->run, "follow_up", follow_up);
    return show_run(task, err);
}

void api_run_get(struct http_request *request, void *arg)
{
    if (params_type(request, "application/json"))
        task_start(arg, request, NULL, TASK_PACKED_RUN, STORE_KEYED, show);
}

static int show_cancelled(sqlite3 *db, struct task *task, struct error *err)
{
    (void)db;
    task->status = 202;
    return show_run(task, err);
}

/* Cancelling an ended run succeeds, because clients may retry. */
void api_run_cancel(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const char *id = http_request_param(request, "id");
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    if (scheduler_cancel(api->scheduler, id, &err) && err.code != ERROR_NOT_FOUND)
        http_reply_error(request, &err);
    else
        task_start(api, request, NULL, TASK_PACKED_RUN, STORE_KEYED, show_cancelled);
}

static int delete_run(sqlite3 *db, struct task *task, struct error *err)
{
    (void)db, (void)err;
    task->write = store_write_create();
    store_write_delete(task->write, task->run_id);
    task->status = 204;
    return 0;
}

void api_run_delete(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *id = http_request_param(request, "id");

    if (scheduler_run_is_active(api->scheduler, id))
        http_reply_problem(request, 409, NULL,
                           "run %s has not ended; cancel it before deleting it", id);
    else
        task_start(arg, request, &run_delete_route, TASK_PACKED_RUN, STORE_KEYED,
                   delete_run);
}
