/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - answers with the verdict on a run's checks, at once or after the run's
 * end */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/analysis/gate.h"
#include "server/api/handlers.h"
#include "server/api/task.h"
#include "server/finding/verdict.h"
#include "server/render/verdict_text.h"

/* Return a new reference to the stored verdict. If none is stored, the run has no checks,
 * and the verdict is created here. Return NULL if the run has not ended. */
static json_t *verdict_of(const json_t *run)
{
    json_t *kept = verdicts_find(json_object_get(run, "verdicts"), VERDICT_GATE);
    const struct gate_run unasked = {.doc = run,
                                     .state = json_get_str(run, "state", ""),
                                     .reason = json_get_str(run, "reason", NULL)};

    if (!json_is_string(json_object_get(run, "ended")))
        return NULL;
    return kept ? json_incref(kept) : gate_judge(&unasked);
}

static int answer(sqlite3 *db, struct task *task, struct error *err)
{
    const json_t *run = task->run;
    json_t *verdict = verdict_of(run);
    int result = 0;

    (void)db;
    task->status = verdict ? 200 : 202;
    if (verdict)
        task_header(task, "Ringbench-Verdict", json_get_str(verdict, "answer", ""));
    if (task->params.verdict.format->value == FORM_JSON)
        task_json(task, json_pack("{s:O, s:O, s:b, s:O?, s:O}", "run",
                                  json_object_get(run, "id"), "state",
                                  json_object_get(run, "state"), "asked",
                                  gate_is_asked(json_object_get(run, "spec")), "verdict",
                                  verdict, "verdicts", json_object_get(run, "verdicts")));
    else if (verdict)
        result = verdict_text_append(verdict, &task->out);
    else
        buf_printf(&task->out, "not ended: the run is %s\n",
                   json_get_str(run, "state", "?"));
    json_decref(verdict);
    return result ? task_too_large(err) : 0;
}

static void start_answer(struct api *api, struct http_request *request)
{
    task_start(api, request, &verdict_route, TASK_PACKED_RUN, STORE_KEYED, answer);
}

/* ---- Waiting for the run's end ---- */

struct wait {
    struct api *api;
    struct http_request *request;
    struct scheduler_watch *watch;
    uv_timer_t timer;
};

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void leave(struct wait *wait)
{
    scheduler_unwatch(wait->watch);
    uv_close((uv_handle_t *)&wait->timer, on_timer_closed);
}

static void on_gone(void *data)
{
    leave(data);
}

/* Answer after the run has ended or the wait has expired. */
static void end_wait(struct wait *wait)
{
    struct http_request *request = wait->request;
    struct api *api = wait->api;

    leave(wait);
    http_request_park(request, NULL, NULL);
    start_answer(api, request);
}

static void on_timer(uv_timer_t *timer)
{
    end_wait(timer->data);
}

static void on_event(void *arg, const struct store_event *event)
{
    if (!event)
        end_wait(arg);
}

static void begin_wait(struct api *api, struct http_request *request, int64_t seconds)
{
    const char *id = http_request_param(request, "id");
    struct wait *wait = memory_zeroed(1, sizeof(*wait), "a request");

    wait->watch = scheduler_watch_run(api->scheduler, id, on_event, wait);
    if (!wait->watch) {
        free(wait);
        start_answer(api, request);
        return;
    }
    wait->api = api;
    wait->request = request;
    uv_timer_init(api->loop, &wait->timer);
    wait->timer.data = wait;
    uv_timer_start(&wait->timer, on_timer, (uint64_t)seconds * 1000, 0);
    http_request_park(request, on_gone, wait);
}

void api_run_verdict(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    const char *id = http_request_param(request, "id");
    struct verdict_params params;

    if (!params_read(request, &verdict_route, &params))
        return;
    if (params.wait_s > 0 && scheduler_run_is_active(api->scheduler, id))
        begin_wait(arg, request, params.wait_s);
    else
        start_answer(arg, request);
}
