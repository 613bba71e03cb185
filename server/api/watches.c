/* watches.c - specs that the server runs by itself, again and again */
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

/* A change on its way to the disk. */
struct change {
    struct parked *parked;
    char id[ID_RUN_LENGTH + 1];
    int status;
};

static struct change *begin_change(struct api *api, struct http_request *request,
                                   int status)
{
    struct change *change = memory_zeroed(1, sizeof(*change), "a watch");

    change->parked = parked_create(api, request);
    change->status = status;
    return change;
}

static void refuse(struct change *change, const struct error *err)
{
    struct http_request *request = parked_take(change->parked);

    if (request)
        http_reply_error(request, err);
    free(change);
}

static void reply_watch(const struct api *api, struct http_request *request,
                        const char *id, int status)
{
    json_t *watch = watches_get(api->watches, id);

    if (watch)
        http_reply_json(request, status, watch);
    else
        http_reply_problem(request, 404, NULL, "there is no watch %.40s", id);
}

static void on_kept(void *arg, const struct error *err, const struct store_event *events,
                    size_t n_events)
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

/* ---- A new one ---- */

static bool read_request(struct api *api, struct http_request *request,
                         struct watch_request *out)
{
    json_t *body = params_body(request);
    struct problems problems, in_spec;
    struct run_spec *spec;
    bool is_read;

    if (!body)
        return false;
    problems_init(&problems);
    problems_init(&in_spec);
    spec_fields_read_into(&watch_request_fields, body, out, "", &problems);
    spec = out->spec ? spec_request_check(api, out->spec, &in_spec) : NULL;
    watch_request_check(out, spec, &problems);
    problems_add_below(&problems, "/spec", &in_spec);
    is_read = problems.count == 0;
    if (!is_read)
        http_reply_problem(request, 422, &problems, "the watch can't be accepted");
    run_spec_destroy(spec);
    problems_release(&in_spec);
    problems_release(&problems);
    json_decref(body);
    return is_read;
}

static const char *launcher_of(const struct watch_request *watch)
{
    return json_string_value(
        json_object_get(json_object_get(watch->spec, "launch"), "name"));
}

static void add(struct api *api, struct http_request *request,
                const struct watch_request *watch)
{
    const char *who = http_request_who(request);
    struct change *change;
    char location[80];
    struct error err;

    if (jobs_allow(api->jobs, launcher_of(watch), who, &err)) {
        http_reply_error(request, &err);
        return;
    }
    if (!api_can_keep(api, request))
        return;
    change = begin_change(api, request, 201);
    if (watches_add(api->watches, watch, who, change->id, on_kept, change, &err)) {
        refuse(change, &err);
        return;
    }
    snprintf(location, sizeof(location), "/api/v1/watches/%s", change->id);
    http_reply_header(request, "Location", location);
}

void api_watch_add(struct http_request *request, void *arg)
{
    struct watch_request watch = {.mode = WATCH_OBSERVE};

    if (!params_type(request, "application/json"))
        return;
    if (read_request(arg, request, &watch))
        add(arg, request, &watch);
    watch_request_release(&watch);
}

/* ---- Changes ---- */

static void apply(struct api *api, struct http_request *request, enum watches_change what,
                  int status)
{
    struct change *change;
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    change = begin_change(api, request, status);
    snprintf(change->id, sizeof(change->id), "%s", http_request_param(request, "id"));
    if (watches_change(api->watches, change->id, what, on_kept, change, &err))
        refuse(change, &err);
}

void api_watch_pause(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_PAUSE, 200);
}

void api_watch_resume(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_RESUME, 200);
}

void api_watch_act(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_ACT, 200);
}

void api_watch_observe(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_OBSERVE, 200);
}

void api_watch_delete(struct http_request *request, void *arg)
{
    apply(arg, request, WATCHES_DELETE, 204);
}

void api_suspect_clear(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct change *change;
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    change = begin_change(api, request, 204);
    if (watches_clear(api->watches, http_request_param(request, "name"), on_kept, change,
                      &err))
        refuse(change, &err);
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
