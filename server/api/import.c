/* import.c - files of other benchmarks become runs */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/spec/collective.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/import/encoding.h"
#include "server/import/import.h"
#include "server/import/nccl_log.h"
#include "server/render/transport_text.h"
#include "server/runs/imported.h"

#define TEXT_MAX ((size_t)1 << 20)
#define TEXT_LINES_MAX 100 /* runs that the text tells of */
#define IMPORTS_MAX 2      /* files that are read at once, each beside the loop */

enum { FORM_JSON, FORM_TEXT };

static const struct params_format formats[] = {
    [FORM_JSON] = {"json", "application/json", FORM_JSON},
    [FORM_TEXT] = {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

/* A file that another thread reads, which takes a second where it is large. */
struct reading {
    uv_work_t work;
    struct api *api;
    struct parked *parked;
    char *text;
    size_t len;
    struct import import; /* read, if is_read; else err says why not */
    bool is_read;
    struct error err;
    json_t *transports; /* of NCCL's log in it, or NULL */
};

static void reading_free(struct reading *reading)
{
    import_release(&reading->import);
    json_decref(reading->transports);
    free(reading->text);
    free(reading);
}

/* An answer on its way. */
struct import_wait {
    struct parked *parked;
    json_t *answer;
};

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
        buf_append_str(out, "no row of a benchmark is in it: nothing is stored\n");
    else
        buf_printf(out, "%" PRId64 " rows read, %" PRId64 " line%s not\n",
                   json_get_int(answer, "rows", 0), total, total == 1 ? "" : "s");
}

static void reply_text(struct http_request *request, int status, const json_t *answer)
{
    const json_t *runs = json_object_get(answer, "runs"), *run;
    struct buf out;
    size_t i;

    buf_init(&out, TEXT_MAX);
    json_array_foreach (runs, i, run)
        if (i < TEXT_LINES_MAX)
            put_run(run, &out);
    if (json_array_size(runs) > TEXT_LINES_MAX)
        buf_printf(&out, "and %zu more runs\n", json_array_size(runs) - TEXT_LINES_MAX);
    if (json_object_get(answer, "failure")) {
        const char *failure = json_get_str(answer, "failure", "");

        buf_append_str(&out, "# failed: ");
        clean_text_show(&out, failure, strlen(failure));
        buf_append_str(&out, "\n");
    }
    transport_text(json_object_get(answer, "transports"), &out);
    put_unread(answer, &out);
    params_reply(request, status, &formats[FORM_TEXT], &out);
    buf_release(&out);
}

/* 201: runs were made; 200: there was NCCL's log alone. */
static void reply(struct http_request *request, int status, json_t *answer)
{
    int form;

    if (params_format(request, formats, &form) && form == FORM_TEXT)
        reply_text(request, status, answer);
    else
        http_reply_json(request, status, json_incref(answer));
}

static void on_stored(void *arg, const struct error *err,
                      const struct store_event *events, size_t n_events)
{
    struct import_wait *wait = arg;
    struct http_request *request = parked_take(wait->parked);

    (void)events;
    (void)n_events;
    if (request && err)
        http_reply_error(request, err);
    else if (request)
        reply(request, 201, wait->answer);
    json_decref(wait->answer);
    free(wait);
}

/* As lists show it. */
static void add_run(json_t *answer, json_t *doc)
{
    json_object_del(doc, "spec");
    json_object_del(doc, "cases");
    json_object_del(doc, "machines");
    json_array_append_new(json_object_get(answer, "runs"), doc);
}

/* One run for each kind of table: those that are alike are its repeats. */
static int write_runs(struct store_write *write, const struct import *import,
                      struct imported *what, json_t *answer, struct error *err)
{
    const struct import_table **alike = calloc(import->n_tables, sizeof(*alike));
    bool *is_done = calloc(import->n_tables, sizeof(*is_done));
    int result = alike && is_done ? 0 : error_set(err, ERROR_MEMORY, "out of memory");

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
        doc = imported_write(write, what, err);
        if (doc)
            add_run(answer, doc);
        else
            result = -1;
    }
    free(is_done);
    free(alike);
    return result;
}

/* ---- What the request says besides ---- */

static void add_label(void *arg, const char *value)
{
    const char *equals = strchr(value, '=');
    json_t **labels = arg;

    if (!equals || equals == value) {
        json_decref(*labels);
        *labels = NULL;
    }
    if (*labels)
        json_object_setn_new(*labels, value, (size_t)(equals - value),
                             json_string(equals + 1));
}

static bool read_hints(struct http_request *request, struct import_hints *hints)
{
    const char *name = http_request_query(request, "collective");
    int64_t ranks = 0;

    hints->collective = name ? collective_lookup(name) : -1;
    if (name && hints->collective < 0) {
        http_reply_problem(request, 422, NULL,
                           "the parameter collective must be one of those that "
                           "/api/v1/collectives names, such as all_reduce");
        return false;
    }
    if (!params_integer(request, "ranks", 1, IMPORT_RANKS_MAX, &ranks))
        return false;
    hints->ranks = (int)ranks;
    return true;
}

/* False after an answer. labels: a new reference. */
static bool read_params(struct http_request *request, struct imported *what,
                        json_t **labels)
{
    const char *name = http_request_query(request, "name");
    const char *file = http_request_query(request, "file");
    const char *time = http_request_query(request, "time");

    what->file = file ? file : "";
    what->name = name ? name : what->file;
    what->time_ms = time ? clock_parse_ms(time) : clock_wall_ms();
    if (what->time_ms <= 0 || what->time_ms > clock_wall_ms() + 1000) {
        http_reply_problem(request, 422, NULL,
                           "the parameter time must be when it was measured, as "
                           "2026-01-31T23:59:59.000Z");
        return false;
    }
    *labels = json_object();
    http_request_query_each(request, "label", add_label, labels);
    if (!*labels)
        http_reply_problem(request, 422, NULL, "the parameter label must be KEY=VALUE");
    what->labels = *labels;
    return *labels != NULL;
}

/* ---- The request ---- */

static void store_runs(struct api *api, struct http_request *request,
                       struct store_write *write, json_t *answer)
{
    struct import_wait *wait = calloc(1, sizeof(*wait));

    if (!wait)
        http_reply_problem(request, 503, NULL, "out of memory");
    else
        wait->parked = parked_create(api, request);
    if (!wait || !wait->parked) {
        store_write_destroy(write);
        free(wait);
        return;
    }
    wait->answer = json_incref(answer);
    store_submit(api->store, write, false, on_stored, wait);
}

static json_t *answer_of(const struct import *import, json_t *transports)
{
    json_t *answer =
        json_pack("{s:[], s:I, s:I, s:O}", "runs", "rows", (json_int_t)import->n_rows,
                  "unread_total", (json_int_t)import->n_unread, "unread", import->unread);

    if (answer && transports)
        json_object_set(answer, "transports", transports);
    if (answer && import->failure[0])
        json_object_set_new(answer, "failure", json_clean_string(import->failure));
    return answer;
}

static void take(struct api *api, struct http_request *request, struct import *import,
                 struct imported *what)
{
    struct store_write *write = store_write_create();
    json_t *answer = answer_of(import, what->transports);
    struct error err;

    if (write && answer && !write_runs(write, import, what, answer, &err)) {
        store_runs(api, request, write, answer);
    } else {
        if (!write || !answer)
            error_set(&err, ERROR_MEMORY, "out of memory");
        store_write_destroy(write);
        http_reply_error(request, &err);
    }
    json_decref(answer);
}

static void answer(struct reading *reading, struct http_request *request)
{
    struct import *import = &reading->import;
    struct imported what = {.transports = reading->transports};
    struct import_hints hints;
    json_t *labels = NULL, *doc;
    struct error err = reading->err;

    if (!read_hints(request, &hints) || !read_params(request, &what, &labels)) {
        json_decref(labels);
        return;
    }
    if (!reading->is_read && import->n_tables == 0 && import->n_unread == 0 &&
        what.transports) {
        doc = answer_of(import, what.transports);
        reply(request, 200, doc);
        json_decref(doc);
    } else if (!reading->is_read || import_settle(import, &hints, &err)) {
        http_reply_error(request, &err);
    } else {
        take(reading->api, request, import, &what);
    }
    json_decref(labels);
}

static void on_read(uv_work_t *work, int status)
{
    struct reading *reading = work->data;
    struct http_request *request = parked_take(reading->parked);

    reading->api->imports--;
    if (request && status)
        http_reply_problem(request, 503, NULL, "the server stops");
    else if (request)
        answer(reading, request);
    reading_free(reading);
}

static void do_read(uv_work_t *work)
{
    struct reading *reading = work->data;

    if (import_decode(&reading->text, &reading->len, &reading->err))
        return;
    reading->transports = nccl_log_read(reading->text, reading->len);
    reading->is_read =
        import_read(reading->text, reading->len, &reading->import, &reading->err) == 0;
}

static void begin(struct api *api, struct http_request *request)
{
    struct reading *reading = calloc(1, sizeof(*reading));

    if (reading)
        reading->text = http_request_take_body(request, &reading->len);
    if (!reading || !reading->text) {
        free(reading);
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    reading->api = api;
    reading->parked = parked_create(api, request);
    if (!reading->parked) {
        reading_free(reading);
        return;
    }
    reading->work.data = reading;
    api->imports++;
    uv_queue_work(api->loop, &reading->work, do_read, on_read);
}

void api_import(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct imported what = {.n_tables = 0};
    struct import_hints hints;
    json_t *labels = NULL;
    bool is_asked;
    int form;

    is_asked = params_format(request, formats, &form) && read_hints(request, &hints) &&
               read_params(request, &what, &labels) && api_can_keep(api, request);
    json_decref(labels);
    if (is_asked && api->imports >= IMPORTS_MAX) {
        http_reply_header(request, "Retry-After", "2");
        http_reply_problem(request, 503, NULL,
                           "%d files are being read, which is the most", IMPORTS_MAX);
    } else if (is_asked) {
        begin(api, request);
    }
}
