/* report.c - a run as one file to keep and to mail: the page of web/report.html with the
 * run's data in it, and the run as text for who runs no scripts. The loop reads pages of
 * events and answers; what is in them is written down on the work queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/spec/collective_json.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/report_page.h"
#include "server/api/summary_answer.h"
#include "server/render/run_text.h"

#define PAGE_EVENTS 2000
#define EVENT_BYTES_MAX ((size_t)64 << 20)
/* A run with more than either has its summary in its report; MANY of run_source.mjs. */
#define WHOLE_RESULTS_MAX 10000
#define WHOLE_BYTES_MAX ((size_t)16 << 20)
#define REPORT_BYTES_MAX ((size_t)256 << 20)
#define LINK_HOST_MAX 300
#define TITLE_MAX 200
#define FORMAT_VERSION 2
/* Each may hold several times WHOLE_BYTES_MAX while it is written. */
#define REPORTS_MAX 4

struct report_job {
    uv_work_t work;
    struct parked *parked;
    json_t *run; /* its document, shared with nobody */
    struct run_text *writer;
    int64_t after;
    struct store_events *page;
    struct buf data, text, report;
    size_t data_head; /* length of `data` before the events */
    enum summary_by by;
    bool is_whole, has_event, is_failed;
};

static const struct error too_large = {
    ERROR_UNAVAILABLE,
    "the report can't be written: out of memory, or an event is not as "
    "it should be"};

static void read_page(struct report_job *job);
static void read_summary(struct report_job *job);

static void reply(struct http_request *request, const struct report_job *job)
{
    char policy[1024], disposition[96];
    size_t len;
    const char *stated = report_page_policy(&len);

    /* The last is what a policy inside a page may not say. */
    snprintf(policy, sizeof(policy), "%.*s; frame-ancestors 'none'", (int)len, stated);
    snprintf(disposition, sizeof(disposition), "inline; filename=\"ringbench-%s.html\"",
             json_get_str(job->run, "id", ""));
    http_reply_header(request, "Content-Security-Policy", policy);
    http_reply_header(request, "Content-Disposition", disposition);
    http_reply_header(request, "Referrer-Policy", "no-referrer");
    http_reply_text(request, 200, "text/html; charset=utf-8", job->report.data,
                    job->report.len);
}

static void job_free(struct report_job *job)
{
    json_decref(job->run);
    run_text_destroy(job->writer);
    store_events_destroy(job->page);
    buf_release(&job->data);
    buf_release(&job->text);
    buf_release(&job->report);
    free(job);
}

/* Answer, if there is still someone to answer, and free the job. */
static void finish(struct report_job *job, const struct error *err)
{
    struct http_request *request;

    job->parked->api->reports--;
    request = parked_take(job->parked);
    if (request && err)
        http_reply_error(request, err);
    else if (request)
        reply(request, job);
    job_free(job);
}

/* "name": value as it may stand in a script element. */
static int put_member(struct buf *out, const char *name, const json_t *value)
{
    char *text = json_text(value);
    int result = -1;

    if (text && buf_printf(out, "\"%s\":", name) == 0)
        result = report_page_put_json(out, text, strlen(text));
    free(text);
    return result;
}

/* On the work queue. */
static void write_report(uv_work_t *work)
{
    struct report_job *job = work->data;
    const char *name = json_get_str(job->run, "name", "");
    char title[TITLE_MAX];

    if (!*name)
        name = json_get_str(job->run, "id", "");
    clean_text_copy(title, sizeof(title), name, strlen(name));
    job->is_failed = buf_append_str(&job->data, job->is_whole ? "]}\n" : "}\n") ||
                     report_page_fill(&job->report, title, &job->text, &job->data);
}

static void on_written(uv_work_t *work, int status)
{
    struct report_job *job = work->data;

    finish(job, status || job->is_failed ? &too_large : NULL);
}

static void start_writing(struct report_job *job)
{
    uv_queue_work(job->parked->api->loop, &job->work, write_report, on_written);
}

/* The page says so itself; this is for who has only the text. */
static void end_shortened_text(struct report_job *job)
{
    run_text_end(job->writer, &job->text);
    buf_printf(&job->text,
               "# The rest is left out here: the run has %lld rows and is %s.\n",
               (long long)json_get_int(job->run, "rows_done", 0),
               json_get_str(job->run, "state", "?"));
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    static const char *const names[] = {
        [SUMMARY_BY_COMBINATION] = "summary", [SUMMARY_BY_CASE] = "summary_by_case"};
    struct report_job *job = arg;
    struct buf answer;
    int result = -1;

    buf_init(&answer, REPORT_BYTES_MAX);
    if (summary && summary_answer_write(job->run, summary, &answer) == 0 &&
        buf_printf(&job->data, ",\"%s\":", names[job->by]) == 0)
        result = report_page_put_json(&job->data, answer.data, answer.len);
    buf_release(&answer);
    summary_destroy(summary);
    if (result || !job->parked->request) {
        finish(job, err ? err : &too_large);
    } else if (job->by == SUMMARY_BY_COMBINATION) {
        job->by = SUMMARY_BY_CASE;
        read_summary(job);
    } else {
        start_writing(job);
    }
}

static void read_summary(struct report_job *job)
{
    const struct summary_query query = {
        .up_to = INT64_MAX, .points = SUMMARY_POINTS_DEFAULT, .by = job->by};

    store_read_summary(job->parked->api->store, job->run, &query, on_summary, job);
}

static void start_summary(struct report_job *job)
{
    end_shortened_text(job);
    job->by = SUMMARY_BY_COMBINATION;
    read_summary(job);
}

static int put_event(struct report_job *job, const struct store_event *event)
{
    struct buf line;
    int result;

    buf_init(&line, EVENT_BYTES_MAX);
    result = buf_append_str(&job->data, job->has_event ? ",\n" : "\n") ||
             store_event_append(event, &line) ||
             report_page_put_json(&job->data, line.data, line.len);
    buf_release(&line);
    job->has_event = true;
    return result;
}

static int take_event(struct report_job *job, const struct store_event *event)
{
    json_t *body = json_loadb(event->body, event->body_len, 0, NULL);

    if (!body)
        return -1;
    run_text_event(job->writer, event->time_ms, event->type, body, &job->text);
    json_decref(body);
    return job->is_whole ? put_event(job, event) : 0;
}

/* On the work queue. A page of events that is one too much takes the others with it. */
static void take_page(uv_work_t *work)
{
    struct report_job *job = work->data;

    for (size_t i = 0; i < job->page->n && !job->is_failed; i++)
        job->is_failed = take_event(job, &job->page->list[i]) != 0;
    if (job->is_whole && job->data.len - job->data_head > WHOLE_BYTES_MAX)
        job->is_whole = false;
    if (!job->is_whole)
        job->data.len = job->data_head;
}

static void on_taken(uv_work_t *work, int status)
{
    struct report_job *job = work->data;

    store_events_destroy(job->page);
    job->page = NULL;
    if (status || job->is_failed || !job->parked->request)
        finish(job, &too_large);
    else if (job->is_whole)
        read_page(job);
    else
        start_summary(job);
}

static void on_page(void *arg, const struct error *err, struct store_events *page)
{
    struct report_job *job = arg;

    job->page = page;
    if (err || !job->parked->request) {
        finish(job, err ? err : &too_large);
        return;
    }
    if (page->n > 0)
        job->after = page->list[page->n - 1].id;
    job->work.data = job;
    if (page->n == 0 && job->is_whole) {
        run_text_end(job->writer, &job->text);
        start_writing(job);
        return;
    }
    uv_queue_work(job->parked->api->loop, &job->work, take_page, on_taken);
}

static void read_page(struct report_job *job)
{
    store_read_events(job->parked->api->store, json_get_str(job->run, "id", ""),
                      job->after, NULL, PAGE_EVENTS, on_page, job);
}

/* What the server knows now of the run's nodes, but for their devices: the run's machines
 * have these by kind, and no report is to be megabytes for them. */
static json_t *known_nodes(const struct api *api, const json_t *run)
{
    static const char *const devices[] = {"gpus", "rdma", "net"};
    json_t *nodes = json_array(), *placed, *node, *inventory;
    size_t i;

    json_array_foreach (json_object_get(run, "nodes"), i, placed) {
        node = scheduler_node_json(api->scheduler, json_get_str(placed, "name", ""));
        if (!node)
            continue;
        inventory = json_copy(json_object_get(node, "inventory")); /* shared */
        for (size_t k = 0; k < sizeof(devices) / sizeof(devices[0]); k++)
            json_object_del(inventory, devices[k]);
        json_object_set_new(node, "inventory", inventory);
        json_array_append_new(nodes, node);
    }
    return nodes;
}

/* Rows and figures. */
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

/* The data up to the events or the summary. */
static int begin_data(struct report_job *job, const char *link)
{
    char time[CLOCK_TEXT_MAX];
    json_t *facts = collective_json();
    json_t *nodes = known_nodes(job->parked->api, job->run);
    int result = -1;

    if (buf_printf(&job->data,
                   "{\"format\":\"ringbench-report\",\"version\":%d,\"generated\":\"%s\","
                   "\"generator\":\"ringbench " RINGBENCH_VERSION "\",",
                   FORMAT_VERSION, clock_format_ms(clock_wall_ms(), time)) == 0) {
        json_t *address = json_string(link);

        result = put_member(&job->data, "address", address) ||
                 buf_append_str(&job->data, ",") ||
                 put_member(&job->data, "collectives",
                            json_object_get(facts, "collectives")) ||
                 buf_append_str(&job->data, ",") ||
                 put_member(&job->data, "nodes", nodes);
        json_decref(address);
    }
    json_decref(nodes);
    json_decref(facts);
    job->data_head = job->data.len;
    return result;
}

/* The run's document stands before its events; a summary brings its own. */
static int begin_events(struct report_job *job)
{
    if (buf_append_str(&job->data, ",") || put_member(&job->data, "run", job->run))
        return -1;
    return buf_append_str(&job->data, ",\"events\":[");
}

/* NULL when memory is out. */
static struct report_job *job_create(struct parked *parked, const json_t *run)
{
    const char *host = http_request_header(parked->request, "Host");
    struct report_job *job = calloc(1, sizeof(*job));
    char link[LINK_HOST_MAX + 80];

    if (!job)
        return NULL;
    snprintf(link, sizeof(link), "http%s://%.*s/runs/%s", parked->api->is_tls ? "s" : "",
             LINK_HOST_MAX, host ? host : "localhost", json_get_str(run, "id", ""));
    job->parked = parked;
    /* The scheduler goes on to change its own. */
    job->run = json_deep_copy(run);
    job->writer = job->run ? run_text_create(job->run, link, NULL) : NULL;
    job->is_whole = results_of(run) <= WHOLE_RESULTS_MAX;
    buf_init(&job->report, REPORT_BYTES_MAX);
    buf_init(&job->data, REPORT_BYTES_MAX);
    buf_init(&job->text, REPORT_BYTES_MAX);
    if (!job->writer || begin_data(job, link) || begin_events(job)) {
        job_free(job);
        return NULL;
    }
    run_text_begin(job->writer, &job->text);
    return job;
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct parked *parked;
    struct report_job *job;

    if (api->reports >= REPORTS_MAX) {
        http_reply_header(request, "Retry-After", "2");
        http_reply_problem(request, 503, NULL,
                           "%d reports are being written, which is the most",
                           REPORTS_MAX);
        return;
    }
    parked = parked_create(api, request);
    if (!parked)
        return;
    job = job_create(parked, run);
    if (!job) {
        parked_fail(parked, &too_large);
        return;
    }
    api->reports++;
    read_page(job);
}

void api_run_report(struct http_request *request, void *arg)
{
    if (!report_page_exists())
        http_reply_problem(request, 501, NULL,
                           "this server was built without the web UI (RINGBENCH_UI=OFF), "
                           "and so without reports; results?format=text has the figures");
    else if (params_type(request, "text/html"))
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
