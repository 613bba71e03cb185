/* SPDX-License-Identifier: Apache-2.0 */
/* watches.c - lists, adds and changes watches, and lists suspects */
#include "server/watches/watches.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/spec_field.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/spec_request.h"
#include "server/launch/jobs.h"
#include "server/watches/calendar.h"

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

/* A change to a watch that is being stored. */
struct change {
    struct parked *parked;
    char id[ID_RUN_LENGTH + 1]; /* the watch's id */
    int status;                 /* HTTP status of the answer */
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

static void change_watch(struct api *api, struct http_request *request,
                         enum watches_change what)
{
    const char *id = http_request_param(request, what == WATCHES_CLEAR ? "name" : "id");
    bool is_removal = what == WATCHES_DELETE || what == WATCHES_CLEAR;
    struct change *change;
    struct error err;

    if (!params_type(request, "application/json"))
        return;
    change = begin_change(api, request, is_removal ? 204 : 200);
    snprintf(change->id, sizeof(change->id), "%s", id);
    if (watches_change(api->watches, id, what, end_change, change, &err))
        end_change(change, &err, NULL, 0);
}

#define CHANGE_HANDLER(name, what)                                                       \
    void name(struct http_request *request, void *arg)                                   \
    {                                                                                    \
        change_watch(arg, request, what);                                                \
    }

CHANGE_HANDLER(api_watch_pause, WATCHES_PAUSE)
CHANGE_HANDLER(api_watch_resume, WATCHES_RESUME)
CHANGE_HANDLER(api_watch_act, WATCHES_ACT)
CHANGE_HANDLER(api_watch_observe, WATCHES_OBSERVE)
CHANGE_HANDLER(api_watch_delete, WATCHES_DELETE)
CHANGE_HANDLER(api_suspect_clear, WATCHES_CLEAR)

/* ---- New watches ---- */

/* The body of POST /watches. */
struct watch_request {
    char *name;
    json_t *spec, *every, *window;
    long nodes_at_once;
    bool idle_only;
    int mode;
};

static const char *const modes[] = {"observe", "act", NULL};

/* JSON(): a member of any JSON type, which check_request() checks. */
#define AT(member) .offset = offsetof(struct watch_request, member)
#define JSON(member) .kind = &spec_json, AT(member)

static const struct spec_field table[] = {
    {"name", NULL, SPEC_REQUIRED, .kind = &spec_text, AT(name), .max = 100},
    {"spec", NULL, SPEC_REQUIRED, JSON(spec)},
    {"every", NULL, SPEC_REQUIRED, JSON(every)},
    {"window", NULL, 0, JSON(window)},
    {"nodes_at_once", NULL, 0, .kind = &spec_integer, AT(nodes_at_once), .min = 1,
     .max = 100000},
    {"idle_only", "true", 0, .kind = &spec_boolean, AT(idle_only)},
    {"mode", "\"observe\"", 0, .kind = &spec_choice, AT(mode), .choices = modes},
};

static const struct spec_fields fields = {
    table, sizeof(table) / sizeof(table[0]),
    "an object such as {\"name\": \"nightly\", \"every\": \"24h\", \"spec\": {}}"};

/* Report the errors that the table of fields cannot detect. */
static void check_request(struct api *api, const struct watch_request *watch,
                          struct problems *problems)
{
    struct problems in_spec;
    struct run_spec *spec;
    struct calendar ignored;

    problems_init(&in_spec);
    if (watch->every)
        calendar_read(&ignored, watch->every, watch->window, problems);
    spec = watch->spec ? spec_request_check(api, watch->spec, &in_spec) : NULL;
    if (spec && !spec->launch.name && spec->nodes.count)
        problems_add(
            problems, "/spec/nodes/count",
            "applies only with launch. Without launch, a watch measures all nodes that "
            "names, group and labels select, nodes_at_once of them at a time");
    if (spec && spec->launch.name && watch->nodes_at_once)
        problems_add(problems, "/nodes_at_once",
                     "cannot be combined with launch, where /spec/nodes/count is the "
                     "number of nodes");
    if (spec && spec->avoid_suspects)
        problems_add(problems, "/spec/avoid_suspects",
                     "must be false: a watch measures suspects until they pass");
    problems_add_below(problems, "/spec", &in_spec);
    run_spec_destroy(spec);
    problems_release(&in_spec);
}

/* Return the body with all defaults, or NULL after an answer with 422. */
static json_t *read_request(struct api *api, struct http_request *request, json_t *body)
{
    struct watch_request watch = {0};
    struct problems problems;
    json_t *out = NULL;

    problems_init(&problems);
    spec_fields_read_into(&fields, body, &watch, "", &problems);
    check_request(api, &watch, &problems);
    if (problems.count > 0)
        http_reply_problem(request, 422, &problems, "the watch cannot be accepted");
    else
        out = spec_fields_show(&fields, (struct run_spec *)(void *)&watch, 0, 0);
    spec_fields_release(&fields, (struct run_spec *)(void *)&watch);
    problems_release(&problems);
    return out;
}

/* Store a new watch and answer. Takes the reference to the watch. */
static void add(struct api *api, struct http_request *request, json_t *watch)
{
    struct change *change = begin_change(api, request, 201);
    char location[80];
    struct error err;

    if (watches_add(api->watches, watch, http_request_who(request), end_change, change,
                    change->id, &err)) {
        end_change(change, &err, NULL, 0);
        return;
    }
    snprintf(location, sizeof(location), "/api/v1/watches/%s", change->id);
    http_reply_header(request, "Location", location);
}

void api_watch_add(struct http_request *request, void *arg)
{
    struct api *api = arg;
    json_t *body = params_type(request, "application/json") ? params_body(request) : NULL;
    json_t *watch = body ? read_request(api, request, body) : NULL;
    const json_t *launch = json_object_get(json_object_get(watch, "spec"), "launch");
    struct error err;

    if (watch && jobs_allow(api->jobs, json_get_str(launch, "name", NULL),
                            http_request_who(request), &err))
        http_reply_error(request, &err);
    else if (watch && api_can_keep(api, request))
        add(api, request, json_incref(watch));
    json_decref(watch);
    json_decref(body);
}

/* ---- Lists ---- */

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
