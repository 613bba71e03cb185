/* verdict.c - what a run's checks say, at once or when it has ended */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/gate.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/render/verdict_text.h"

#define TEXT_MAX ((size_t)1 << 20)
#define WAIT_MAX_S 86400

enum form { FORM_JSON, FORM_TEXT };

static const struct params_format formats[] = {
    [FORM_JSON] = {"json", "application/json", FORM_JSON},
    [FORM_TEXT] = {"text", "text/plain", FORM_TEXT},
    {NULL, NULL, 0},
};

/* ---- The answer ---- */

static bool has_ended(const json_t *run)
{
    return json_is_string(json_object_get(run, "ended"));
}

/* Of a run that asked for no checks none is kept. A new reference, NULL while it goes on.
 */
static json_t *verdict_of(const json_t *run)
{
    json_t *kept = json_object_get(run, "verdict");
    const struct gate_run unasked = {.doc = run,
                                     .state = json_get_str(run, "state", ""),
                                     .reason = json_get_str(run, "reason", NULL)};

    if (!has_ended(run))
        return NULL;
    return kept ? json_incref(kept) : gate_judge(&unasked);
}

static void reply_text(struct http_request *request, int status, const json_t *run,
                       json_t *verdict)
{
    struct buf out;

    buf_init(&out, TEXT_MAX);
    if (!verdict)
        buf_printf(&out, "not ended: the run is %s\n", json_get_str(run, "state", "?"));
    if (verdict && verdict_text_append(verdict, &out))
        http_reply_problem(request, 503, NULL, "out of memory");
    else
        params_reply(request, status, &formats[FORM_TEXT], &out);
    buf_release(&out);
}

static void answer(struct api *api, struct http_request *request, json_t *run)
{
    json_t *verdict = verdict_of(run);
    int status = has_ended(run) ? 200 : 202;
    int form;

    (void)api;
    if (!params_format(request, formats, &form))
        goto out;
    if (has_ended(run) && !verdict) {
        http_reply_problem(request, 503, NULL, "out of memory");
        goto out;
    }
    if (verdict)
        http_reply_header(request, "Ringbench-Verdict",
                          json_get_str(verdict, "answer", ""));
    if (form == FORM_TEXT)
        reply_text(request, status, run, verdict);
    else
        http_reply_json(request, status,
                        json_pack("{s:O, s:O, s:b, s:O?, s:O*, s:O*, s:O*}", "run",
                                  json_object_get(run, "id"), "state",
                                  json_object_get(run, "state"), "asked",
                                  gate_is_asked(json_object_get(run, "spec")), "verdict",
                                  verdict, "lateness", json_object_get(run, "lateness"),
                                  "hang", json_object_get(run, "hang"), "traffic",
                                  json_object_get(run, "traffic")));
out:
    json_decref(verdict);
}

/* ---- Waiting for the run's end ---- */

struct wait {
    struct api *api;
    struct http_request *request;
    struct scheduler_watch *watch;
    uv_timer_t timer;
    char run[64];
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

/* It has ended, or was waited for long enough. */
static void end_wait(struct wait *wait)
{
    struct http_request *request = wait->request;

    leave(wait);
    http_request_park(request, NULL, NULL);
    lookup_run(wait->api, request, wait->run, answer);
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

static void begin_wait(struct api *api, struct http_request *request, json_t *run,
                       int64_t seconds)
{
    struct wait *wait = calloc(1, sizeof(*wait));

    if (!wait) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    snprintf(wait->run, sizeof(wait->run), "%s", json_get_str(run, "id", ""));
    wait->watch = scheduler_watch_run(api->scheduler, wait->run, on_event, wait);
    if (!wait->watch) {
        free(wait);
        answer(api, request, run);
        return;
    }
    wait->api = api;
    wait->request = request;
    uv_timer_init(api->loop, &wait->timer);
    wait->timer.data = wait;
    uv_timer_start(&wait->timer, on_timer, (uint64_t)seconds * 1000, 0);
    http_request_park(request, on_gone, wait);
}

static void found(struct api *api, struct http_request *request, json_t *run)
{
    int64_t seconds = 0;

    if (!params_integer(request, "wait", 0, WAIT_MAX_S, &seconds))
        return;
    if (seconds > 0 && !has_ended(run))
        begin_wait(api, request, run, seconds);
    else
        answer(api, request, run);
}

void api_run_verdict(struct http_request *request, void *arg)
{
    int form;

    if (params_format(request, formats, &form))
        lookup_run(arg, request, http_request_param(request, "id"), found);
}
