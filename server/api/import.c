/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - makes runs from the output of other benchmarks */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/import/encoding.h"
#include "server/import/import.h"
#include "server/import/nccl_log.h"
#include "server/render/transport_text.h"
#include "server/runs/imported.h"
#include "server/store/run_listed.h"

#define TEXT_LINES_MAX 100 /* maximum number of runs in a text answer */

/* ---- The answer ---- */

static void put_run(const json_t *run, struct buf *out)
{
    const json_t *summary = json_object_get(run, "summary");
    const char *reason = json_get_str(run, "reason", "");
    const char *heading = json_get_str(json_object_get(run, "labels"), "heading", NULL);

    buf_printf(out, "%s  %" PRId64 " rows of %s, %" PRId64 " ranks",
               json_get_str(run, "id", "?"), json_get_int(run, "rows_done", 0),
               json_string_value(json_array_get(json_object_get(run, "collectives"), 0)),
               json_get_int(run, "world_size", 0));
    if (json_get_int(summary, "skipped", 0) > 0)
        buf_printf(out, ", %" PRId64 " of them skipped",
                   json_get_int(summary, "skipped", 0));
    if (heading) {
        buf_append_str(out, " (");
        clean_text_show(out, heading, strlen(heading));
        buf_append_str(out, ")");
    }
    buf_printf(out, ": %s, ", json_get_str(run, "state", "?"));
    clean_text_show(out, reason, strlen(reason));
    buf_append_str(out, "\n");
}

static void put_unread(const json_t *answer, struct buf *out)
{
    const json_t *unread = json_object_get(answer, "unread"), *item;
    int64_t total = json_get_int(answer, "unread_total", 0);
    size_t i;

    json_array_foreach (unread, i, item) {
        const char *pointer = json_get_str(item, "pointer", NULL);

        if (pointer)
            buf_printf(out, "not read: %s: ", pointer);
        else
            buf_printf(out, "not read: line %" PRId64 ": ",
                       json_get_int(item, "line", 0));
        buf_printf(out, "%s\n", json_get_str(item, "detail", "?"));
    }
    if (json_array_size(json_object_get(answer, "runs")) == 0)
        buf_append_str(out, "the file contains no benchmark rows: nothing was stored\n");
    else
        buf_printf(out, "%" PRId64 " rows read, %" PRId64 " line%s not\n",
                   json_get_int(answer, "rows", 0), total, total == 1 ? "" : "s");
}

static void put_text(const json_t *answer, struct buf *out)
{
    const json_t *runs = json_object_get(answer, "runs"), *run;
    const char *failure = json_get_str(answer, "failure", NULL);
    size_t i;

    json_array_foreach (runs, i, run)
        if (i < TEXT_LINES_MAX)
            put_run(run, out);
    if (json_array_size(runs) > TEXT_LINES_MAX)
        buf_printf(out, "and %zu more runs\n", json_array_size(runs) - TEXT_LINES_MAX);
    if (failure) {
        buf_append_str(out, "# failed: ");
        clean_text_show(out, failure, strlen(failure));
        buf_append_str(out, "\n");
    }
    transport_text(json_object_get(answer, "transports"), out);
    put_unread(answer, out);
}

static json_t *answer_of(const struct import *import, json_t *transports)
{
    json_t *answer = json_pack("{s:[], s:I, s:I, s:O, s:O*}", "runs", "rows",
                               (json_int_t)import->n_rows, "unread_total",
                               (json_int_t)import->n_unread, "unread", import->unread,
                               "transports", transports);

    if (import->failure[0])
        json_object_set_new(answer, "failure", json_clean_string(import->failure));
    return answer;
}

/* ---- The runs ---- */

static void add_run(json_t *answer, json_t *doc)
{
    json_array_append_new(json_object_get(answer, "runs"), run_listed(doc));
    json_decref(doc);
}

/* Write one run for each kind of table. Tables of the same kind are repetitions of that
 * run. */
static int write_runs(struct task *task, const struct import *import,
                      struct imported *what, json_t *answer, struct error *err)
{
    const struct import_table **alike =
        memory_zeroed(import->n_tables + 1, sizeof(*alike), "an import");
    bool *is_done = memory_zeroed(import->n_tables + 1, sizeof(*is_done), "an import");
    int result = 0;

    for (size_t i = 0; i < import->n_tables && !result; i++) {
        json_t *doc;

        if (is_done[i])
            continue;
        what->tables = alike;
        what->n_tables = 0;
        for (size_t k = i; k < import->n_tables; k++) {
            if (is_done[k] || !import_alike(&import->tables[i], &import->tables[k]))
                continue;
            is_done[k] = true;
            alike[what->n_tables++] = &import->tables[k];
        }
        doc = imported_write(task->write, what, err);
        if (doc) {
            json_array_append(task->ended, json_object_get(doc, "id"));
            add_run(answer, doc);
        } else {
            result = -1;
        }
    }
    free(is_done);
    free(alike);
    return result;
}

/* Return the labels as a new JSON object. */
static json_t *labels_json(const struct param_texts *labels)
{
    json_t *object = json_object();

    for (size_t i = 0; i < labels->n; i++) {
        char *name = memory_text(labels->at[i], "a label");
        char *equals = strchr(name, '=');

        *equals = '\0';
        json_object_set_new(object, name, json_string(equals + 1));
        free(name);
    }
    return object;
}

/* Add the imported runs to the task's database write and to the answer. */
static int make_runs(struct task *task, const struct import *import, json_t *answer,
                     struct error *err)
{
    const struct import_params *params = &task->params.import;
    const char *file = params->file ? params->file : "";
    json_t *labels = labels_json(&params->labels);
    struct imported what = {.transports = json_object_get(answer, "transports"),
                            .file = file,
                            .name = params->name ? params->name : file,
                            .time_ms =
                                params->time_ms > 0 ? params->time_ms : clock_wall_ms(),
                            .labels = labels};
    int result;

    task->status = 201;
    task->write = store_write_create();
    task->ended = json_array();
    result = write_runs(task, import, &what, answer, err);
    json_decref(labels);
    return result;
}

/* ---- The request ---- */

struct file {
    char *text;
    size_t len;
};

static void file_free(void *arg)
{
    struct file *file = arg;

    free(file->text);
    free(file);
}

static int answer_file(struct task *task, struct import *import, bool is_read,
                       json_t *transports, struct error *err)
{
    const struct import_params *params = &task->params.import;
    const struct import_hints hints = {.collective = params->collective,
                                       .ranks = (int)params->ranks};
    bool is_log_alone =
        !is_read && import->n_tables == 0 && import->n_unread == 0 && transports;
    json_t *answer;
    int result = 0;

    if (!is_log_alone && (!is_read || import_settle(import, &hints, err)))
        return -1;
    answer = answer_of(import, transports);
    if (!is_log_alone)
        result = make_runs(task, import, answer, err);
    if (result == 0 && params->format->value == FORM_JSON)
        task_json(task, json_incref(answer));
    else if (result == 0)
        put_text(answer, &task->out);
    json_decref(answer);
    return result;
}

static int read_file(sqlite3 *db, struct task *task, struct error *err)
{
    struct file *file = task->own;
    struct import import = {.n_tables = 0};
    json_t *transports;
    bool is_read;
    int result;

    (void)db;
    if (import_decode(&file->text, &file->len, err))
        return -1;
    transports = nccl_log_read(file->text, file->len);
    is_read = import_read(file->text, file->len, &import, err) == 0;
    result = answer_file(task, &import, is_read, transports, err);
    import_release(&import);
    json_decref(transports);
    return result;
}

void api_import(struct http_request *request, void *arg)
{
    struct task *task = task_create(arg, request, &import_route);
    struct file *file;

    if (!task)
        return;
    if (task->params.import.time_ms > clock_wall_ms() + 1000) {
        http_reply_problem(request, 422, NULL,
                           "the parameter time must not be in the future");
        task_free(task);
        return;
    }
    if (!api_can_keep(arg, request)) {
        task_free(task);
        return;
    }
    file = memory_zeroed(1, sizeof(*file), "a file");
    file->text = http_request_take_body(request, &file->len);
    if (!file->text)
        memory_out("a file");
    task->own = file;
    task->release = file_free;
    task_run(task, TASK_NO_RUN, STORE_HEAVY, read_file);
}
