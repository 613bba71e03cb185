/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - answers a request with one function that runs on a thread of the store */
#include "server/api/task.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/store/run_packed.h"
#include "server/store/store_work.h"

/* large enough for any query, even if each byte is written as %XX */
#define LINK_MAX ((size_t)65536)
#define ANSWER_BYTES_MAX ((size_t)512 << 20)

struct task *task_create(struct api *api, struct http_request *request,
                         const struct route_params *route)
{
    struct task *task = memory_zeroed(1, sizeof(*task), "a request");

    if (!params_read(request, route, &task->params)) {
        free(task);
        return NULL;
    }
    task->api = api;
    task->request = request;
    task->route = route;
    task->status = 200;
    task->type = "application/json";
    if (route && route->formats)
        task->type = task->params.any.format->type;
    else if (route && route->type)
        task->type = route->type;
    task->head = INT64_MAX;
    task->run_id = http_request_param(request, "id");
    buf_init(&task->out, ANSWER_BYTES_MAX);
    problems_init(&task->problems);
    return task;
}

void task_free(struct task *task)
{
    json_decref(task->run);
    json_decref(task->headers);
    buf_release(&task->out);
    json_decref(task->given);
    json_decref(task->ended);
    if (task->release)
        task->release(task->own);
    else
        free(task->own);
    free(task->note);
    problems_release(&task->problems);
    free(task);
}

static void reply_error(const struct task *task, const struct error *err)
{
    if (task->status >= 400)
        http_reply_problem(task->request, task->status,
                           task->problems.count > 0 ? &task->problems : NULL, "%s",
                           err->text);
    else
        http_reply_error(task->request, err);
}

static void reply(struct task *task)
{
    const char *name;
    json_t *value;
    char type[80], *text;
    size_t len;

    json_object_foreach (task->headers, name, value)
        http_reply_header(task->request, name, json_string_value(value));
    if (task->status == 204) {
        http_reply_empty(task->request, 204);
        return;
    }
    snprintf(type, sizeof(type), "%s%s", task->type,
             strncmp(task->type, "text/", 5) == 0 && !strchr(task->type, ';')
                 ? "; charset=utf-8"
                 : "");
    text = buf_detach(&task->out, &len);
    http_reply_taken_text(task->request, task->status, type, text, len);
}

static void begin(struct task *task);

static void begin_next_alone(struct api *api)
{
    api->alone = api->alone->next;
    if (api->alone)
        begin(api->alone);
}

static void end(struct task *task, const struct error *err)
{
    if (task->is_alone)
        begin_next_alone(task->api);
    if (task->thread == STORE_HEAVY)
        task->api->heavy_tasks--;
    if (err)
        reply_error(task, err);
    else
        reply(task);
    task_free(task);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct task *task = arg;

    (void)events, (void)n_events;
    if (!err && task->note)
        log_info("%s", task->note);
    for (size_t i = 0; !err && i < json_array_size(task->ended); i++)
        scheduler_note_end(task->api->scheduler,
                           json_string_value(json_array_get(task->ended, i)));
    end(task, err);
}

static void on_worked(void *arg, const struct error *err)
{
    struct task *task = arg;
    struct error own;

    if (task->write && err)
        store_write_destroy(task->write);
    if (!err && task->finish && task->finish(task, &own))
        err = &own;
    if (task->write && !err)
        store_submit(task->api->store, task->write, false, on_written, task);
    else
        end(task, err);
}

static bool needs_run(const struct task *task)
{
    return task->needs != TASK_NO_RUN && task->needs != TASK_SETTLED_RUNS;
}

static int read_and_work(sqlite3 *db, struct task *task, struct error *err)
{
    if (task->run && task->needs != TASK_PACKED_RUN)
        run_unpack(task->run);
    if (needs_run(task) && !task->run) {
        task->run = store_get_run(db, task->run_id, err);
        if (!task->run && err->code == ERROR_NOT_FOUND)
            return error_set(err, ERROR_NOT_FOUND, "there is no run %s", task->run_id);
        if (!task->run)
            return -1;
    }
    return task->work(db, task, err);
}

/* Runs on a thread of the store. Also frees the run there, because freeing a run with ten
 * thousand cases takes long. */
static int do_work(sqlite3 *db, void *arg, struct error *err)
{
    struct task *task = arg;
    int result = read_and_work(db, task, err);

    json_decref(task->run);
    task->run = NULL;
    return result;
}

static void on_ready(void *arg, const struct error *err)
{
    struct task *task = arg;
    int64_t head = task->run ? scheduler_head(task->api->scheduler, task->run_id) : 0;

    if (head > 0)
        task->head = head;
    if (err)
        end(task, err);
    else
        store_do_on(task->api->store, task->thread, do_work, on_worked, task);
}

/* Wait until the store contains all events that the task's documents include. */
static void settle(struct task *task)
{
    bool is_live = task->needs == TASK_SETTLED_RUN && task->run;
    bool are_live = task->needs == TASK_SETTLED_RUNS && json_object_size(task->given) > 0;

    if (is_live || are_live)
        store_settle(task->api->store, on_ready, task);
    else
        on_ready(task, NULL);
}

static void on_values(void *arg, const struct error *err)
{
    if (err)
        end(arg, err);
    else
        settle(arg);
}

static bool is_too_many(struct task *task)
{
    if (task->api->heavy_tasks < TASK_HEAVY_MAX)
        return false;
    http_reply_header(task->request, "Retry-After", "2");
    http_reply_problem(task->request, 503, NULL,
                       "%d comparisons, reports and imports are running or waiting, "
                       "which is the maximum: try again later",
                       TASK_HEAVY_MAX);
    task_free(task);
    return true;
}

static void begin(struct task *task)
{
    if (needs_run(task))
        task->run = scheduler_run_packed(task->api->scheduler, task->run_id);
    if (task->values_of)
        scheduler_await_values(task->api->scheduler, task->values_of, on_values, task);
    else
        settle(task);
}

/* Append the task to the queue of tasks that run one at a time. Return true if the queue
 * was empty. */
static bool is_first_alone(struct task *task)
{
    struct task **last = &task->api->alone;

    while (*last)
        last = &(*last)->next;
    *last = task;
    return task->api->alone == task;
}

void task_run(struct task *task, enum task_run needs, enum store_thread thread,
              task_work *work)
{
    if (thread == STORE_HEAVY && is_too_many(task))
        return;
    if (thread == STORE_HEAVY)
        task->api->heavy_tasks++;
    task->needs = needs;
    task->thread = thread;
    task->work = work;
    /* Park without a callback: the request stays valid until the answer, even if the
     * client leaves. */
    http_request_park(task->request, NULL, NULL);
    if (task->is_alone && !is_first_alone(task))
        return;
    begin(task);
}

void task_start(struct api *api, struct http_request *request,
                const struct route_params *route, enum task_run needs,
                enum store_thread thread, task_work *work)
{
    struct task *task = task_create(api, request, route);

    if (task)
        task_run(task, needs, thread, work);
}

int task_json(struct task *task, json_t *json)
{
    if (!json || json_line_append(json, &task->out))
        memory_out("an answer");
    json_decref(json);
    task->type = "application/json";
    return 0;
}

void task_header(struct task *task, const char *name, const char *value)
{
    if (!task->headers)
        task->headers = json_object();
    json_object_set_new(task->headers, name, json_string(value));
}

static void put_encoded(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~",
                   *text))
            buf_append(out, text, 1);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
}

struct link {
    struct buf out;
    const char *name; /* name of the current parameter */
};

static void put_parameter(void *arg, const char *value)
{
    struct link *link = arg;

    buf_printf(&link->out, "%c%s=", link->out.len > 1 ? '&' : '?', link->name);
    put_encoded(&link->out, value);
}

void task_link_next(struct task *task, const char *name, const char *value)
{
    struct link link = {.name = name};

    buf_init(&link.out, LINK_MAX);
    buf_append_str(&link.out, "<");
    put_parameter(&link, value);
    for (size_t i = 0; i < task->route->n; i++) {
        link.name = task->route->list[i].name;
        if (strcmp(link.name, name) != 0)
            http_request_query_each(task->request, link.name, put_parameter, &link);
    }
    link.name = "format";
    http_request_query_each(task->request, link.name, put_parameter, &link);
    if (buf_append_str(&link.out, ">; rel=\"next\"") == 0)
        task_header(task, "Link", link.out.data);
    buf_release(&link.out);
}

int task_refuse(struct task *task, int status, struct error *err, const char *format, ...)
{
    va_list args;

    err->code = ERROR_INVALID;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    task->status = status;
    return -1;
}

int task_too_large(struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "the answer is too large");
}
