/* report.c - a run as one file to keep and to mail. The loop reads pages of events and
 * answers; what is in them is taken apart, and the file is written, on the work queue. */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/json_util.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/report/figures.h"
#include "server/report/report.h"
#include "server/report/style.h"
#include "server/store/summary.h"

#define PAGE_EVENTS 2000
#define PAGE_BYTES_MAX ((size_t)64 << 20)
#define LINK_HOST_MAX 300
/* Each may hold some 100 MB while it is written. */
#define REPORTS_MAX 4

struct report_job {
    uv_work_t work;
    struct parked *parked;
    struct facts *facts;
    char run[64];
    int64_t after;
    struct buf text; /* a page of events; at last the report */
    struct summary_case *cases;
    size_t n_cases;
    bool is_failed;
};

static const struct error too_large = {
    ERROR_UNAVAILABLE,
    "the report can't be written: out of memory, or an event is not as "
    "it should be"};

static void read_page(struct report_job *job);

static void reply(struct http_request *request, const struct report_job *job)
{
    char policy[STYLE_POLICY_MAX], all[STYLE_POLICY_MAX + 32], disposition[96];

    if (style_policy(policy)) {
        http_reply_error(request, &too_large);
        return;
    }
    /* What a policy inside a page may not say. */
    snprintf(all, sizeof(all), "%s; frame-ancestors 'none'", policy);
    snprintf(disposition, sizeof(disposition), "inline; filename=\"ringbench-%s.html\"",
             job->run);
    http_reply_header(request, "Content-Security-Policy", all);
    http_reply_header(request, "Content-Disposition", disposition);
    http_reply_header(request, "Referrer-Policy", "no-referrer");
    http_reply_text(request, 200, "text/html; charset=utf-8", job->text.data,
                    job->text.len);
}

/* Answer, if there is still someone to answer, and free the job. */
static void finish(struct report_job *job, const struct error *err)
{
    struct api *api = job->parked->api;
    struct http_request *request = parked_take(job->parked);

    api->reports--;
    if (request && err)
        http_reply_error(request, err);
    else if (request)
        reply(request, job);
    facts_destroy(job->facts);
    buf_release(&job->text);
    free(job->cases);
    free(job);
}

/* On the work queue. */
static void write_report(uv_work_t *work)
{
    struct report_job *job = work->data;

    job->is_failed = report_write(job->facts, &job->text) != 0;
}

static void on_written(uv_work_t *work, int status)
{
    struct report_job *job = work->data;

    finish(job, status || job->is_failed ? &too_large : NULL);
}

static void start_writing(struct report_job *job)
{
    buf_release(&job->text);
    uv_queue_work(job->parked->api->loop, &job->work, write_report, on_written);
}

static void on_summary(void *arg, const struct error *err, struct summary *summary)
{
    struct report_job *job = arg;
    struct facts *facts = job->facts;

    if (summary)
        facts->figures = figures_from_summary(facts->run, facts->rows, summary,
                                              job->cases, job->n_cases);
    summary_destroy(summary);
    if (!job->parked->request || err || !facts->figures)
        finish(job, err ? err : &too_large);
    else
        start_writing(job);
}

/* Of a run with more rows than the report lists, the charts still show all. */
static void read_summary(struct report_job *job)
{
    struct summary_query query = {.run = job->run,
                                  .up_to = INT64_MAX,
                                  .points = SUMMARY_POINTS_DEFAULT,
                                  .by = SUMMARY_BY_COMBINATION};

    job->cases = summary_cases(job->facts->run, &job->n_cases);
    if (!job->cases) {
        finish(job, &too_large);
        return;
    }
    query.cases = job->cases;
    query.n_cases = job->n_cases;
    store_read_summary(job->parked->api->store, &query, on_summary, job);
}

/* On the work queue. */
static void take_page(uv_work_t *work)
{
    struct report_job *job = work->data;

    job->is_failed = facts_add_events(job->facts, job->text.data, job->text.len) != 0;
}

static void on_taken(uv_work_t *work, int status)
{
    struct report_job *job = work->data;

    buf_clear(&job->text);
    if (status || job->is_failed || !job->parked->request)
        finish(job, &too_large);
    else
        read_page(job);
}

static void on_page(void *arg, const struct error *err, const char *text, size_t len,
                    int64_t last_id, size_t count)
{
    struct report_job *job = arg;
    uv_loop_t *loop = job->parked->api->loop;

    if (err || !job->parked->request) {
        finish(job, err ? err : &too_large);
        return;
    }
    job->after = last_id;
    job->work.data = job;
    if (count == 0 && facts_is_full(job->facts)) {
        read_summary(job);
    } else if (count == 0) {
        start_writing(job);
    } else if (buf_append(&job->text, text, len)) {
        finish(job, &too_large);
    } else {
        uv_queue_work(loop, &job->work, take_page, on_taken);
    }
}

/* Rows beyond those that a report holds need not be read; messages may still come. */
static void read_page(struct report_job *job)
{
    const char *type = facts_is_full(job->facts) ? "message" : NULL;

    store_read_events_text(job->parked->api->store, job->run, job->after, type,
                           PAGE_EVENTS, on_page, job);
}

/* What the server knows now of the run's nodes, as copies: the scheduler goes on to
 * change its own. */
static json_t *known_nodes(const struct api *api, const json_t *run)
{
    json_t *nodes = json_array(), *placed;
    size_t i;

    json_array_foreach(json_object_get(run, "nodes"), i, placed)
    {
        json_t *node =
            scheduler_node_json(api->scheduler, json_get_str(placed, "name", ""));

        if (node)
            json_array_append_new(nodes, json_deep_copy(node));
        json_decref(node);
    }
    return nodes;
}

static struct facts *gather_facts(const struct api *api, struct http_request *request,
                                  const json_t *run)
{
    const char *host = http_request_header(request, "Host");
    char link[LINK_HOST_MAX + 80];

    snprintf(link, sizeof(link), "http%s://%.*s/runs/%s", api->is_tls ? "s" : "",
             LINK_HOST_MAX, host ? host : "localhost", json_get_str(run, "id", ""));
    return facts_create(json_deep_copy(run), known_nodes(api, run), link,
                        clock_wall_ms());
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct report_job *job;

    if (api->reports >= REPORTS_MAX) {
        http_reply_header(request, "Retry-After", "2");
        http_reply_problem(request, 503, NULL,
                           "%d reports are being written, which is the most",
                           REPORTS_MAX);
        return;
    }
    job = calloc(1, sizeof(*job));
    if (job)
        job->facts = gather_facts(api, request, run);
    if (!job || !job->facts) {
        free(job);
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    job->parked = parked_create(api, request);
    if (!job->parked) {
        facts_destroy(job->facts);
        free(job);
        return;
    }
    snprintf(job->run, sizeof(job->run), "%s", json_get_str(run, "id", ""));
    buf_init(&job->text, PAGE_BYTES_MAX);
    api->reports++;
    read_page(job);
}

void api_run_report(struct http_request *request, void *arg)
{
    if (params_type(request, "text/html"))
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
