/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - answers requests for a run's result rows: a stream of all rows, one page of
 * rows, or the file for NCCL's example tuner plugin */
#include <inttypes.h>
#include <stdio.h>

#include "server/api/follow.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/task.h"
#include "server/render/tuner_csv.h"
#include "server/store/store_work.h"

#define PAGE_ROWS 500

/* ---- The file for NCCL's tuner plugin ---- */

static int answer_tuner(sqlite3 *db, struct task *task, struct error *err)
{
    static const struct summary_query query = {
        .up_to = INT64_MAX, .points = SUMMARY_POINTS_MAX, .is_bare = true};
    struct summary *summary = store_get_summary(db, task->run, &query, err);
    int result = -1;

    if (!summary)
        return -1;
    result = tuner_csv(task->run, summary, (long)task->params.results.channels,
                       &task->out, err);
    task->status = result && err->code == ERROR_INVALID ? 422 : task->status;
    summary_destroy(summary);
    return result;
}

/* ---- One page of rows ---- */

/* Return true if the request contains a paging parameter. */
static bool is_page_asked(const struct results_params *params)
{
    return params->limit >= 0 || params->after >= 0 || params->case_no >= 0 ||
           params->series >= 0 || params->group >= 0 || params->size >= 0 ||
           params->row >= 0 || params->rank >= 0 || params->metric;
}

static struct event_writer *create_writer(const struct results_params *params,
                                          const json_t *run)
{
    struct event_writer *writer =
        event_writer_create((enum event_form)params->format->value, run, "", NULL);

    if (params->has_samples)
        event_writer_want_samples(writer);
    if (params->has_ranks)
        event_writer_want_ranks(writer);
    return writer;
}

static int answer_page(sqlite3 *db, struct task *task, struct error *err)
{
    const struct results_params *params = &task->params.results;
    json_t *query = params_json(task->route, params);
    struct store_events *rows;
    struct event_writer *writer;
    char next[24];
    int result = 0;

    json_object_set_new(query, "run", json_string(task->run_id));
    if (params->limit < 0)
        json_object_set_new(query, "limit", json_integer(PAGE_ROWS));
    rows = store_get_rows(db, query, err);
    json_decref(query);
    if (!rows)
        return -1;
    task->type = event_form_content_type((enum event_form)params->format->value);
    writer = create_writer(params, task->run);
    event_writer_begin(writer, &task->out);
    for (size_t i = 0; i < rows->n && result == 0; i++)
        result = event_writer_event(writer, &rows->list[i], &task->out);
    event_writer_end_page(writer, rows->next, &task->out);
    if (rows->next > 0) {
        snprintf(next, sizeof(next), "%" PRId64, rows->next);
        task_link_next(task, "after", next);
    }
    event_writer_destroy(writer);
    store_events_destroy(rows);
    return result ? error_set(err, ERROR_INTERNAL, "a row cannot be read") : 0;
}

/* ---- All rows as a stream ---- */

static void found(struct api *api, struct http_request *request, json_t *run)
{
    struct results_params params;

    if (params_read(request, &results_route, &params))
        follow_start(
            api, request, run,
            &(struct follow_options){.status = 200,
                                     .form = (enum event_form)params.format->value,
                                     .wants_samples = params.has_samples,
                                     .wants_ranks = params.has_ranks});
}

void api_run_results(struct http_request *request, void *arg)
{
    struct results_params params;

    if (!params_read(request, &results_route, &params))
        return;
    if (params.format->value == FORM_TUNER)
        task_start(arg, request, &results_route, TASK_SETTLED_RUN, STORE_LONG,
                   answer_tuner);
    else if (is_page_asked(&params))
        task_start(arg, request, &results_route, TASK_RUN, STORE_LONG, answer_page);
    else
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
