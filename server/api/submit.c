/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c - accepts a new run: checks the request, stores a repeated request only once,
 * and answers with the run or its events */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/follow.h"
#include "server/api/handlers.h"
#include "server/api/lookup.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/spec_request.h"
#include "server/launch/jobs.h"
#include "server/nodes/digest.h"
#include "server/plan/follow_up.h"

#define KEY_MAX 200
#define KEY_RULE "Idempotency-Key must be 1 to 200 visible ASCII characters"

/* A run that is being stored. */
struct submission {
    struct parked *parked;
    char key[KEY_MAX + 1]; /* idempotency key; "" if the request has none */
    char hash[DIGEST_TEXT_SIZE];
};

static const struct params_format answers[] = {
    {"json", "application/json", -1},
    {"text", "text/plain", EVENT_FORM_TEXT},
    {"sse", "text/event-stream", EVENT_FORM_SSE},
    {"ndjson", "application/x-ndjson", EVENT_FORM_NDJSON},
    {NULL, NULL, 0},
};

static void answer(struct api *api, struct http_request *request, json_t *run, int status)
{
    struct follow_options options = {.status = status, .is_endless = true};
    char location[128];
    const struct params_format *format = params_format(request, answers);

    if (!format)
        return;
    snprintf(location, sizeof(location), "/api/v1/runs/%s", json_get_str(run, "id", ""));
    http_reply_header(request, "Location", location);
    if (format->value < 0) {
        http_reply_json(request, status, json_incref(run));
        return;
    }
    options.form = (enum event_form)format->value;
    follow_start(api, request, run, &options);
}

static void answer_created(struct api *api, struct http_request *request, json_t *run)
{
    answer(api, request, run, 201);
}

static void answer_known(struct api *api, struct http_request *request, json_t *run)
{
    answer(api, request, run, 200);
}

/* Read the request's idempotency key; "" if there is none. If the key is invalid, answer
 * the request and return false. */
static bool read_key(struct http_request *request, char key[KEY_MAX + 1])
{
    const char *text = http_request_header(request, "Idempotency-Key");
    size_t len = text ? strlen(text) : 0;

    key[0] = '\0';
    if (!text)
        return true;
    for (size_t i = 0; i < len; i++) {
        if (!isgraph((unsigned char)text[i])) {
            http_reply_problem(request, 400, NULL, KEY_RULE);
            return false;
        }
    }
    if (len == 0 || len > KEY_MAX) {
        http_reply_problem(request, 400, NULL, KEY_RULE);
        return false;
    }
    memcpy(key, text, len + 1);
    return true;
}

static void refuse_other_body(struct http_request *request)
{
    http_reply_problem(request, 422, NULL,
                       "this Idempotency-Key was used with a different body: use a new "
                       "key for a new run");
}

/* If a run with this key is stored, the request is a repetition: answer it and return
 * true. */
static bool is_repeated(struct api *api, struct http_request *request, const char *key,
                        const char *hash)
{
    char run[ID_RUN_LENGTH + 1], known[DIGEST_TEXT_SIZE];

    if (!store_idempotency(api->store, key, run, known))
        return false;
    if (strcmp(known, hash) != 0)
        refuse_other_body(request);
    else
        lookup_run(api, request, run, answer_known);
    return true;
}

/* The store accepts each key only once. ERROR_CONFLICT means that a concurrent request
 * with the same key was stored first, so this request is a repetition. */
static void on_accepted(void *arg, const struct error *err, const char *run)
{
    struct submission *submission = arg;
    struct api *api = submission->parked->api;
    struct http_request *request = parked_take(submission->parked);
    bool is_taken = err && err->code == ERROR_CONFLICT;

    if (request && !err)
        lookup_run(api, request, run, answer_created);
    else if (request &&
             !(is_taken && is_repeated(api, request, submission->key, submission->hash)))
        http_reply_error(request, err);
    free(submission);
}

/* Store a new run. Takes ownership of `spec`. */
static void submit(struct api *api, struct http_request *request, struct run_spec *spec,
                   const char *key, const char *hash)
{
    struct submission *submission = memory_zeroed(1, sizeof(*submission), "a run");

    submission->parked = parked_create(api, request);
    snprintf(submission->key, sizeof(submission->key), "%s", key);
    snprintf(submission->hash, sizeof(submission->hash), "%s", hash);
    scheduler_submit(api->scheduler, spec, *key ? submission->key : NULL,
                     *key ? submission->hash : NULL, on_accepted, submission);
}

bool api_can_keep(struct api *api, struct http_request *request)
{
    const char *trouble = store_trouble(api->store);

    if (!trouble)
        return true;
    http_reply_header(request, "Retry-After", "10");
    http_reply_problem(request, 503, NULL,
                       "the server accepts no new data, because it cannot store them: %s",
                       trouble);
    return false;
}

/* Accept the run spec in `body`. group: the node group of the run that a follow-up
 * belongs to, or NULL. */
static void take_body(struct api *api, struct http_request *request, json_t *body,
                      const char *group)
{
    char key[KEY_MAX + 1], hash[DIGEST_TEXT_SIZE] = "";
    struct run_spec *spec;
    struct error err;

    if (!read_key(request, key))
        return;
    if (*key)
        digest_json(body, hash);
    if (*key && is_repeated(api, request, key, hash))
        return;
    spec = spec_request_parse(api, request, body);
    if (spec &&
        jobs_allow(api->jobs, spec->launch.name, http_request_who(request), &err)) {
        http_reply_error(request, &err);
        run_spec_destroy(spec);
    } else if (spec && api_can_keep(api, request)) {
        jobs_assign(api->jobs, spec, group);
        submit(api, request, spec, key, hash);
    } else {
        run_spec_destroy(spec);
    }
}

void api_run_submit(struct http_request *request, void *arg)
{
    json_t *body;

    if (!params_format(request, answers))
        return;
    body = spec_request_body(request);
    if (body)
        take_body(arg, request, body, NULL);
    json_decref(body);
}

static void submit_follow_up(struct api *api, struct http_request *request, json_t *run)
{
    json_t *follow_up = follow_up_of(run);

    if (follow_up)
        take_body(api, request, json_object_get(follow_up, "spec"),
                  json_get_str(json_object_get(json_object_get(run, "spec"), "nodes"),
                               "group", NULL));
    else
        http_reply_problem(request, 409, NULL,
                           "run %s cannot get a follow-up: it must be an ended "
                           "measurement on at least three nodes",
                           json_get_str(run, "id", "?"));
    json_decref(follow_up);
}

void api_run_follow_up(struct http_request *request, void *arg)
{
    if (params_format(request, answers))
        lookup_run(arg, request, http_request_param(request, "id"), submit_follow_up);
}
