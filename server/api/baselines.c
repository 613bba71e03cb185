/* baselines.c - runs that somebody accepted as what others are held against */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/spec/spec_field.h"
#include "server/api/baseline_find.h"
#include "server/api/handlers.h"
#include "server/api/lists.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/peer_address.h"

#define LIST_LIMIT_DEFAULT 50
#define LIST_LIMIT_MAX 500
#define BY_MAX 200
#define WHY_MAX 1000

/* ---- An act: a baseline that is to be accepted or removed ---- */

struct act {
    struct api *api;
    struct parked *parked;
    char id[ID_RUN_LENGTH + 1];
    char run[ID_RUN_LENGTH + 1];
    char by[BY_MAX + 1], why[WHY_MAX + 1];
    char peer[NI_MAXHOST];
    enum run_likeness likeness;
    bool is_end;
};

static struct store_baseline baseline_of(const struct act *act)
{
    return (struct store_baseline){.id = act->id,
                                   .run = act->run,
                                   .by = act->by,
                                   .why = act->why,
                                   .peer = act->peer,
                                   .likeness = act->likeness,
                                   .time_ms = clock_wall_ms()};
}

/* End the act, and with it the wait: the request if its client is still there. */
static struct http_request *act_take(struct act *act)
{
    struct http_request *request = parked_take(act->parked);

    free(act);
    return request;
}

static void act_fail(struct act *act, const struct error *err)
{
    struct http_request *request = act_take(act);

    if (request)
        http_reply_error(request, err);
}

/* {"baselines": one} as that one. */
static void on_accepted(void *arg, const struct error *err, json_t *result)
{
    struct act *act = arg;
    json_t *baseline = json_array_get(json_object_get(result, "baselines"), 0);
    struct http_request *request;
    char location[80];

    snprintf(location, sizeof(location), "/api/v1/baselines/%s", act->id);
    request = act_take(act);
    if (request && err) {
        http_reply_error(request, err);
    } else if (request) {
        http_reply_header(request, "Location", location);
        http_reply_json(request, 201, json_incref(baseline));
    }
    json_decref(result);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct act *act = arg;
    const struct store_baselines_query query = {.id = act->id, .limit = 1};

    (void)events;
    (void)n_events;
    if (err) {
        act_fail(act, err);
        return;
    }
    log_info("baseline %s: run %s %s by %s from %s: %s", act->id, act->run,
             act->is_end ? "removed" : "accepted", act->by, act->peer, act->why);
    if (act->is_end) {
        struct http_request *request = act_take(act);

        if (request)
            http_reply_empty(request, 204);
        return;
    }
    store_read_baselines(act->api->store, &query, on_accepted, act);
}

static void write_act(struct act *act)
{
    const struct store_baseline baseline = baseline_of(act);
    struct store_write *write = store_write_create();

    if (write && act->is_end)
        store_write_baseline_end(write, &baseline);
    else if (write)
        store_write_baseline(write, &baseline);
    store_submit(act->api->store, write, false, on_written, act);
}

/* ---- Accepting ---- */

/* 1 to max bytes that one line shows. */
static bool is_line(const char *text, size_t max)
{
    size_t len = text ? strlen(text) : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    return len >= 1 && len <= max;
}

static void parse_line(const struct spec_field *field, json_t *value,
                       struct run_spec *spec, const char *pointer,
                       struct problems *problems)
{
    const char *text = json_string_value(value);
    size_t max = (size_t)field->max;

    if (is_line(text, max))
        snprintf(spec_field_at(field, spec), max + 1, "%s", text);
    else
        problems_add(problems, pointer,
                     "must be a text of 1 to %zu bytes without line breaks", max);
}

static void parse_run(const struct spec_field *field, json_t *value,
                      struct run_spec *spec, const char *pointer,
                      struct problems *problems)
{
    const char *text = json_string_value(value);

    if (text && strlen(text) == ID_RUN_LENGTH)
        snprintf(spec_field_at(field, spec), ID_RUN_LENGTH + 1, "%s", text);
    else
        problems_add(problems, pointer, "must be the id of a run");
}

static const struct spec_kind line = {.parse = parse_line};
static const struct spec_kind run_id = {.parse = parse_run};

#define AT(member) .offset = offsetof(struct act, member)

/* clang-format off */
static const struct spec_field table[] = {
    {"run", NULL, SPEC_REQUIRED, .kind = &run_id, AT(run)},
    {"by", NULL, SPEC_REQUIRED, .kind = &line, AT(by), .max = BY_MAX},
    {"why", NULL, SPEC_REQUIRED, .kind = &line, AT(why), .max = WHY_MAX},
    {"like", "\"nodes\"", 0, .kind = &spec_choice, AT(likeness), .choices = run_likeness_names},
};
/* clang-format on */

static const struct spec_fields fields = {table, sizeof(table) / sizeof(table[0]),
                                          "an object with run, by and why"};

/* A new act, from the body; NULL after an answer. */
static struct act *act_from_body(struct http_request *request)
{
    json_t *body = params_body(request);
    struct act *act = body ? calloc(1, sizeof(*act)) : NULL;
    struct problems problems;

    problems_init(&problems);
    if (act)
        spec_fields_read_into(&fields, body, act, "", &problems);
    else if (body)
        http_reply_problem(request, 503, NULL, "out of memory");
    if (problems.count > 0) {
        http_reply_problem(request, 422, &problems, "the baseline can't be accepted");
        free(act);
        act = NULL;
    }
    problems_release(&problems);
    json_decref(body);
    return act;
}

/* Whether a run can be one; else the request is answered. */
static bool can_be_baseline(struct http_request *request, const json_t *run)
{
    const char *state = json_get_str(run, "state", "");

    if (strcmp(state, "completed") != 0)
        http_reply_problem(request, 409, NULL,
                           "run %s is %s: only one that has completed can be a baseline",
                           json_get_str(run, "id", ""), state);
    else if (json_object_get(run, "program"))
        http_reply_problem(request, 409, NULL,
                           "run %s measured no collectives: only one that did can be a "
                           "baseline",
                           json_get_str(run, "id", ""));
    else
        return true;
    return false;
}

static void on_values(void *arg, const struct error *err)
{
    if (err)
        act_fail(arg, err);
    else
        write_act(arg);
}

static void accept_found(struct api *api, struct http_request *request, json_t *run)
{
    struct act *act = can_be_baseline(request, run) ? act_from_body(request) : NULL;

    if (!act)
        return;
    act->api = api;
    id_run(act->id);
    peer_address_text(request, act->peer);
    act->parked = parked_create(api, request);
    if (act->parked)
        scheduler_await_values(api->scheduler, act->run, on_values, act);
    else
        free(act);
}

/* The body is read again when the run is found: a request keeps it. */
void api_baseline_accept(struct http_request *request, void *arg)
{
    struct act *act =
        params_type(request, "application/json") ? act_from_body(request) : NULL;

    if (act)
        lookup_run(arg, request, act->run, accept_found);
    free(act);
}

/* ---- Removing ---- */

static bool read_parameter(struct http_request *request, const char *name, size_t max,
                           char *out)
{
    const char *text = http_request_query(request, name);

    if (is_line(text, max)) {
        snprintf(out, max + 1, "%s", text);
        return true;
    }
    http_reply_problem(request, 422, NULL,
                       "the parameter %s must say %s removes the baseline, in up to %zu "
                       "bytes",
                       name, strcmp(name, "by") == 0 ? "who" : "why one", max);
    return false;
}

/* The baseline that is to be removed is known, by its id, or has been removed. */
static void on_found(void *arg, const struct error *err, json_t *result)
{
    struct act *act = arg;
    json_t *baseline = json_array_get(json_object_get(result, "baselines"), 0);
    struct error none;

    if (baseline)
        snprintf(act->run, sizeof(act->run), "%s", json_get_str(baseline, "run", ""));
    if (!err && !baseline) {
        error_set(&none, ERROR_NOT_FOUND, "there is no baseline %s", act->id);
        err = &none;
    }
    if (err)
        act_fail(act, err);
    else
        write_act(act);
    json_decref(result);
}

void api_baseline_remove(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct act *act = calloc(1, sizeof(*act));
    struct store_baselines_query query = {.limit = 1};

    if (!act) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    act->api = api;
    act->is_end = true;
    snprintf(act->id, sizeof(act->id), "%s", http_request_param(request, "id"));
    query.id = act->id;
    peer_address_text(request, act->peer);
    if (read_parameter(request, "by", BY_MAX, act->by) &&
        read_parameter(request, "why", WHY_MAX, act->why))
        act->parked = parked_create(api, request);
    if (act->parked)
        store_read_baselines(api->store, &query, on_found, act);
    else
        free(act);
}

/* ---- The list ---- */

static void on_list(void *arg, const struct error *err, json_t *result)
{
    struct http_request *request = parked_take(arg);

    if (request && err)
        http_reply_error(request, err);
    else if (request)
        lists_reply(request, LIST_BASELINES, json_incref(result));
    json_decref(result);
}

void api_baseline_list(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct store_baselines_query query = {.run = http_request_query(request, "run"),
                                          .cursor =
                                              http_request_query(request, "cursor")};
    int64_t limit = LIST_LIMIT_DEFAULT;
    struct parked *parked;

    if (!lists_can_reply(request) ||
        !params_integer(request, "limit", 1, LIST_LIMIT_MAX, &limit) ||
        !params_flag(request, "removed", &query.has_removed))
        return;
    query.limit = (int)limit;
    parked = parked_create(api, request);
    if (parked)
        store_read_baselines(api->store, &query, on_list, parked);
}

static void on_one(void *arg, const struct error *err, json_t *result)
{
    struct http_request *request = parked_take(arg);
    json_t *baseline = json_array_get(json_object_get(result, "baselines"), 0);

    if (request && err)
        http_reply_error(request, err);
    else if (request && !baseline)
        http_reply_problem(request, 404, NULL, "there is no baseline %s",
                           http_request_param(request, "id"));
    else if (request)
        http_reply_json(request, 200, json_incref(baseline));
    json_decref(result);
}

void api_baseline_get(struct http_request *request, void *arg)
{
    struct api *api = arg;
    const struct store_baselines_query query = {.id = http_request_param(request, "id"),
                                                .limit = 1};
    struct parked *parked =
        params_type(request, "application/json") ? parked_create(api, request) : NULL;

    if (parked)
        store_read_baselines(api->store, &query, on_one, parked);
}

/* ---- What a run is held against ---- */

static void on_base(void *arg, const struct error *err, json_t *base)
{
    struct http_request *request = parked_take(arg);

    if (request && err)
        http_reply_error(request, err);
    else if (request)
        http_reply_json(request, 200, json_incref(base));
    json_decref(base);
}

static void base_found(struct api *api, struct http_request *request, json_t *run)
{
    struct store_base_query query = {.run = json_get_str(run, "id", "")};
    struct parked *parked =
        params_base(request, &query) ? parked_create(api, request) : NULL;

    if (parked)
        baseline_find(api, &query, on_base, parked);
}

void api_run_baseline(struct http_request *request, void *arg)
{
    if (params_type(request, "application/json"))
        lookup_run(arg, request, http_request_param(request, "id"), base_found);
}
