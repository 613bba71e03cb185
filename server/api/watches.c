/* SPDX-License-Identifier: Apache-2.0 */
/* watches.c - specs that the server runs repeatedly */
#include "server/watches/watches.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/ids.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/spec_request.h"
#include "server/launch/jobs.h"

static void reply_watch(const struct api *api, struct http_request *request,
                        const char *id, int status)
{
    json_t *watch = watches_get(api->watches, id);

    if (watch)
        http_reply_json(request, status, watch);
    else
        http_reply_problem(request, 404, NULL, "there is no watch %.40s", id);
}

/* ---- Changes ---- */

/* A change that is being stored. */
struct change {
    struct parked *parked;
    char id[ID_RUN_LENGTH + 1]; /* of the watch */
    int status;                 /* of the answer */
};

static struct change *begin_change(struct api *api, struct http_request *request,
                                   int status)
{
    struct change *change = memory_zeroed(1, sizeof(*change), "a watch");

    change->parked = parked_create(api, request);
    change->status = status;
    return change;
}

static void end_change(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct change *change = arg;
    struct api *api = change->parked->api;
    struct http_request *request = parked_take(change->parked);

    (void)events;
    (void)n_events;
    if (request && err)
        http_reply_error(request, err);
    else if (request && change->status == 204)
        http_reply_empty(request, 204);
    else if (request)
        reply_watch(api, request, change->id, change->status);
    free(change);
}

/* id: the watch's; for WATCHES_CLEAR the node's name. */
static void apply(struct api *api, struct http_request *request, enum watches_change what,
                  const char *id, int status)
{
    struct change *change;
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    change = begin_change(api, request, status);
    snprintf(change->id, sizeof(change->id), "%s", id);
    if (watches_change(api->watches, id, what, end_change, change, &err))
        end_change(change, &err, NULL, 0);
}

void api_watch_pause(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_PAUSE, http_request_param(request, "id"), 200);
}

void api_watch_resume(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_RESUME, http_request_param(request, "id"), 200);
}

void api_watch_act(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_ACT, http_request_param(request, "id"), 200);
}

void api_watch_observe(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_OBSERVE, http_request_param(request, "id"), 200);
}

void api_watch_delete(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_DELETE, http_request_param(request, "id"), 204);
}

void api_suspect_clear(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_CLEAR, http_request_param(request, "name"), 204);
}

/* ---- A new one ---- */

static bool read_request(struct api *api, json_t *body, struct watch_request *out,
                         struct problems *problems)
{
    struct problems in_spec;
    struct run_spec *spec;

    problems_init(&in_spec);
    spec_fields_read_into(&watch_request_fields, body, out, "", problems);
    spec = out->spec ? spec_request_check(api, out->spec, &in_spec) : NULL;
    watch_request_check(out, spec, problems);
    problems_add_below(problems, "/spec", &in_spec);
    run_spec_destroy(spec);
    problems_release(&in_spec);
    return problems->count == 0;
}

static void add(struct api *api, struct http_request *request,
                const struct watch_request *watch)
{
    const char *who = http_request_who(request);
    const json_t *launch = json_object_get(watch->spec, "launch");
    struct change *change;
    char location[80];
    struct error err;

    if (jobs_allow(api->jobs, json_string_value(json_object_get(launch, "name")), who,
                   &err)) {
        http_reply_error(request, &err);
        return;
    }
    if (!api_can_keep(api, request))
        return;
    change = begin_change(api, request, 201);
    if (watches_add(api->watches, watch, who, change->id, end_change, change, &err)) {
        end_change(change, &err, NULL, 0);
        return;
    }
    snprintf(location, sizeof(location), "/api/v1/watches/%s", change->id);
    http_reply_header(request, "Location", location);
}

void api_watch_add(struct http_request *request, void *arg)
{
    struct watch_request watch = {.mode = WATCH_OBSERVE};
    struct problems problems;
    json_t *body;

    if (!params_type(request, "application/json"))
        return;
    body = params_body(request);
    if (!body)
        return;
    problems_init(&problems);
    if (read_request(arg, body, &watch, &problems))
        add(arg, request, &watch);
    else
        http_reply_problem(request, 422, &problems, "the watch can't be accepted");
    problems_release(&problems);
    watch_request_release(&watch);
    json_decref(body);
}

/* ---- The list, and one ---- */

void api_suspect_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &suspects_route, &params))
        lists_reply(request, LIST_SUSPECTS, params.format,
                    json_pack("{s:o}", "suspects", watches_suspects(api->watches)));
}

void api_watch_list(struct http_request *request, void *arg)
{
    const struct api *api = arg;
    struct format_params params;

    if (params_read(request, &watches_route, &params))
        lists_reply(request, LIST_WATCHES, params.format,
                    json_pack("{s:o}", "watches", watches_list(api->watches)));
}

void api_watch_get(struct http_request *request, void *arg)
{
    if (params_type(request, "application/json"))
        reply_watch(arg, request, http_request_param(request, "id"), 200);
}
