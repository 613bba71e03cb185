/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - writes a run as one HTML file to keep or mail: the page of web/report.html
 * with the run's data, and the run as text for readers without scripts */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/collective_json.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/report_page.h"
#include "server/api/summary_answer.h"
#include "server/api/task.h"
#include "server/render/run_text.h"

#define PAGE_EVENTS 2000
#define EVENT_BYTES_MAX ((size_t)64 << 20)
/* Above this number of results, a report contains only summaries, no events. The limit
 * equals MANY in run_source.mjs. */
#define WHOLE_RESULTS_MAX 10000
#define WHOLE_BYTES_MAX ((size_t)16 << 20)
#define REPORT_BYTES_MAX ((size_t)256 << 20)
#define LINK_HOST_MAX 300
#define TITLE_MAX 200
#define FORMAT_VERSION 2

/* ---- The data ---- */

/* Append "name": value, escaped for a script element. */
static int put_member(struct buf *out, const char *name, const json_t *value)
{
    char *text = json_text(value);
    int result = -1;

    if (text && buf_printf(out, "\"%s\":", name) == 0)
        result = report_page_put_json(out, text, strlen(text));
    free(text);
    return result;
}

/* Return the server's documents of the run's nodes without their devices. The run's
 * machines already list the devices by kind, and a list for each node would add
 * megabytes. */
static json_t *known_nodes(const struct api *api, const json_t *run)
{
    static const char *const devices[] = {"gpus", "rdma", "net"};
    json_t *nodes = json_array(), *placed, *node, *inventory;
    size_t i;

    json_array_foreach (json_object_get(run, "nodes"), i, placed) {
        node = scheduler_node_json(api->scheduler, json_get_str(placed, "name", ""));
        if (!node)
            continue;
        /* a copy, because the inventory is shared */
        inventory = json_copy(json_object_get(node, "inventory"));
        for (size_t k = 0; k < sizeof(devices) / sizeof(devices[0]); k++)
            json_object_del(inventory, devices[k]);
        json_object_set_new(node, "inventory", inventory);
        json_array_append_new(nodes, node);
    }
    return nodes;
}

/* Return the number of the run's rows and figures. */
static int64_t results_of(const json_t *run)
{
    const json_t *metrics = json_object_get(json_object_get(run, "summary"), "metrics");
    int64_t count = json_get_int(run, "rows_done", 0);
    json_t *metric;
    size_t i;

    json_array_foreach (metrics, i, metric)
        count += json_get_int(metric, "count", 0);
    return count;
}

/* Write the part of the data that precedes the events or the summary. */
static int begin_data(const char *link, const json_t *nodes, struct buf *data)
{
    char time[CLOCK_TEXT_MAX];
    json_t *facts = collective_json(), *address = json_string(link);
    int result;

    buf_printf(data,
               "{\"format\":\"ringbench-report\",\"version\":%d,\"generated\":\"%s\","
               "\"generator\":\"ringbench " RINGBENCH_VERSION "\",",
               FORMAT_VERSION, clock_format_ms(clock_wall_ms(), time));
    result = put_member(data, "address", address) || buf_append_str(data, ",") ||
             put_member(data, "collectives", json_object_get(facts, "collectives")) ||
             buf_append_str(data, ",") || put_member(data, "nodes", nodes);
    json_decref(address);
    json_decref(facts);
    return result;
}

static int put_event(const struct store_event *event, bool is_first, struct buf *data)
{
    struct buf line;
    int result;

    buf_init(&line, EVENT_BYTES_MAX);
    result = buf_append_str(data, is_first ? "\n" : ",\n") ||
             store_event_append(event, &line) ||
             report_page_put_json(data, line.data, line.len);
    buf_release(&line);
    return result;
}

static int put_text(struct run_text *writer, const struct store_event *event,
                    struct buf *text)
{
    json_t *body = json_loadb(event->body, event->body_len, 0, NULL);

    if (!body)
        return -1;
    run_text_event(writer, event->time_ms, event->type, body, text);
    json_decref(body);
    return 0;
}

/* Add the run and its events, as data and as text. Returns 1 if there are too many
 * events. The data are then unchanged, and the text contains only the first events. */
static int put_events(sqlite3 *db, const struct task *task, struct run_text *writer,
                      struct buf *data, struct buf *text, struct error *err)
{
    bool is_whole = results_of(task->run) <= WHOLE_RESULTS_MAX, is_first = true;
    size_t head = data->len, n = 1;
    int64_t after = 0;
    int result = is_whole
                     ? buf_append_str(data, ",") || put_member(data, "run", task->run) ||
                           buf_append_str(data, ",\"events\":[")
                     : 0;

    while (result == 0 && n > 0) {
        struct store_events *page =
            store_get_events(db, task->run_id, after, NULL, PAGE_EVENTS, err);

        if (!page)
            return -1;
        n = page->n;
        for (size_t i = 0; i < n && result == 0; i++) {
            result = put_text(writer, &page->list[i], text);
            if (result == 0 && is_whole)
                result = put_event(&page->list[i], is_first, data);
            is_first = false;
            after = page->list[i].id;
        }
        store_events_destroy(page);
        if (result == 0 && data->len - head > WHOLE_BYTES_MAX)
            is_whole = false;
        if (!is_whole)
            break;
    }
    if (!is_whole)
        data->len = head;
    if (result)
        return task_too_large(err);
    return is_whole ? 0 : 1;
}

static int put_summary(sqlite3 *db, const json_t *run, enum summary_by by,
                       const char *name, struct buf *data, struct error *err)
{
    const struct summary_query query = {
        .up_to = INT64_MAX, .points = SUMMARY_POINTS_DEFAULT, .by = by};
    struct summary *summary = store_get_summary(db, run, &query, err);
    struct buf answer;
    int result;

    if (!summary)
        return -1;
    buf_init(&answer, REPORT_BYTES_MAX);
    result = summary_answer_write(run, summary, &answer) ||
             buf_printf(data, ",\"%s\":", name) ||
             report_page_put_json(data, answer.data, answer.len);
    buf_release(&answer);
    summary_destroy(summary);
    return result ? task_too_large(err) : 0;
}

/* Add the events, unless there are too many, and the summaries. */
static int put_run(sqlite3 *db, const struct task *task, struct run_text *writer,
                   struct buf *data, struct buf *text, struct error *err)
{
    const json_t *run = task->run;
    int result;

    run_text_begin(writer, text);
    result = put_events(db, task, writer, data, text, err);
    run_text_end(writer, text);
    if (result < 0)
        return -1;
    if (result == 0)
        buf_append_str(data, "]");
    /* The page itself shows that events are missing, but the text needs a line that says
     * so. */
    else
        buf_printf(text,
                   "# This text ends here, because the run is too large: it has %lld "
                   "rows and is %s.\n",
                   (long long)json_get_int(run, "rows_done", 0),
                   json_get_str(run, "state", "?"));
    if (put_summary(db, run, SUMMARY_BY_COMBINATION, "summary", data, err) ||
        put_summary(db, run, SUMMARY_BY_CASE, "summary_by_case", data, err))
        return -1;
    return buf_append_str(data, "}\n");
}

/* ---- The answer ---- */

static void add_headers(struct task *task)
{
    char policy[1024], disposition[96];
    size_t len;
    const char *stated = report_page_policy(&len);

    /* Send the policy as a header too, because a policy in the page cannot contain
     * frame-ancestors. */
    snprintf(policy, sizeof(policy), "%.*s; frame-ancestors 'none'", (int)len, stated);
    snprintf(disposition, sizeof(disposition), "inline; filename=\"ringbench-%s.html\"",
             task->run_id);
    task_header(task, "Content-Security-Policy", policy);
    task_header(task, "Content-Disposition", disposition);
    task_header(task, "Referrer-Policy", "no-referrer");
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    const char *link = task->own, *name = json_get_str(task->run, "name", "");
    struct run_text *writer = run_text_create(task->run, link, NULL);
    struct buf data, text;
    char title[TITLE_MAX];
    int result;

    buf_init(&data, REPORT_BYTES_MAX);
    buf_init(&text, REPORT_BYTES_MAX);
    if (!*name)
        name = task->run_id;
    clean_text_copy(title, sizeof(title), name, strlen(name));
    result = begin_data(link, task->given, &data) ? task_too_large(err) : 0;
    if (result == 0)
        result = put_run(db, task, writer, &data, &text, err);
    if (result == 0 && report_page_fill(&task->out, title, &text, &data))
        result = task_too_large(err);
    add_headers(task);
    run_text_destroy(writer);
    buf_release(&data);
    buf_release(&text);
    return result;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    const char *host = http_request_header(request, "Host");
    struct task *task = task_create(api, request, &report_route);
    char *link;

    if (!task)
        return;
    if (asprintf(&link, "http%s://%.*s/runs/%s", api->is_tls ? "s" : "", LINK_HOST_MAX,
                 host ? host : "localhost", task->run_id) < 0)
        memory_out("a report");
    task->own = link;
    task->given = known_nodes(api, run);
    task_run(task, TASK_RUN, STORE_HEAVY, answer);
}

void api_run_report(struct http_request *request, void *arg)
{
    if (!report_page_exists())
        http_reply_problem(request, 501, NULL,
                           "this server has no reports: it was built without the web UI "
                           "(RINGBENCH_UI=OFF). Use results?format=text instead");
    else
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
