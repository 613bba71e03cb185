/* SPDX-License-Identifier: Apache-2.0 */
/* agents.c - handles the agents' requests: register, poll for commands, post events,
 * leave (docs/development/agent-protocol.md) */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/handlers.h"
#include "server/api/params.h"
#include "server/api/parked.h"
#include "server/api/route_params.h"
#include "server/launch/jobs.h"
#include "server/nodes/node.h"

#define AGENT_ID_MAX 64

static const char *agent_key(const struct http_request *request)
{
    return http_request_header(request, "Ringbench-Agent-Key");
}

/* Answer with 409, err->text and a member `key`. Its value is the sequence number from
 * which, or the number of seconds after which, the agent continues. */
static void reply_conflict(struct http_request *request, const struct error *err,
                           const char *key, int64_t value)
{
    json_t *document = problem_document(409, err->text, NULL);
    char *text;

    json_object_set_new(document, key, json_integer((json_int_t)value));
    text = json_text(document);
    if (!text)
        memory_out("an answer");
    http_reply_text(request, 409, "application/problem+json", text, strlen(text));
    json_decref(document);
    free(text);
}

/* A job's token may register only nodes of that job's group. */
static void check_guest(const struct api *api, const struct http_request *request,
                        const json_t *body, struct problems *problems)
{
    const char *group = jobs_token_group(api->jobs, http_request_token(request));

    if (group && strcmp(json_get_str(body, "group", ""), group) != 0)
        problems_add(problems, "/group", "must be '%s', the group of the token's job",
                     group);
}

void api_agent_register(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err = {.code = ERROR_NONE};
    char peer[NI_MAXHOST];
    struct agents_caller caller = {peer, agent_key(request), 0};
    struct agents_registered registered = {0};
    struct problems problems;
    json_t *body, *answer;

    if (!params_type(request, "application/json"))
        return;
    body = params_body(request);
    if (!body)
        return;
    http_request_body(request, &caller.bytes);
    http_request_peer(request, peer);
    problems_init(&problems);
    check_guest(api, request, body, &problems);
    answer = agents_register(api->agents, body, &caller, &registered, &problems, &err);
    if (answer)
        http_reply_json(request, registered.is_new ? 201 : 200, answer);
    else if (problems.count > 0)
        http_reply_problem(request, 422, &problems,
                           "the registration cannot be accepted");
    else if (registered.retry_after_s > 0)
        reply_conflict(request, &err, "retry_after_s", registered.retry_after_s);
    else
        http_reply_error(request, &err);
    problems_release(&problems);
    json_decref(body);
}

/* An agent's request that waits for commands. */
struct poll {
    struct api *api;
    struct http_request *request;
    char agent[AGENT_ID_MAX];
};

static void on_poll_gone(void *data)
{
    struct poll *poll = data;

    agents_poll_forget(poll->api->agents, poll->agent, poll);
    free(poll);
}

static void on_commands(void *arg, json_t *commands)
{
    struct poll *poll = arg;
    struct http_request *request = poll->request;

    free(poll);
    http_request_park(request, NULL, NULL);
    if (commands)
        http_reply_json_in_turn(request, 200, json_pack("{s:o}", "commands", commands));
    else
        http_reply_empty(request, 204);
}

void api_agent_commands(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err = {.code = ERROR_NONE};
    struct poll *poll;
    struct commands_params params;

    if (!params_read(request, &commands_route, &params))
        return;
    poll = memory_zeroed(1, sizeof(*poll), "an agent's request");
    poll->api = api;
    poll->request = request;
    snprintf(poll->agent, sizeof(poll->agent), "%s",
             http_request_param(request, "agent"));
    /* Park first, because agents_poll may call on_commands before it returns. */
    http_request_park(request, on_poll_gone, poll);
    if (agents_poll(api->agents, poll->agent, agent_key(request), params.after,
                    params.is_spool_full, on_commands, poll, &err)) {
        free(poll);
        http_request_park(request, NULL, NULL);
        http_reply_error(request, &err);
    }
}

static void on_acked(void *arg, const struct error *err, int64_t acked)
{
    struct http_request *request = parked_take(arg);

    if (!request)
        return;
    if (!err)
        http_reply_json(request, 200, json_pack("{s:I}", "acked", (json_int_t)acked));
    else if (err->code == ERROR_CONFLICT)
        reply_conflict(request, err, "acked", acked);
    else
        http_reply_error(request, err);
}

void api_agent_events(struct http_request *request, void *arg)
{
    struct api *api = arg;
    size_t len;
    const char *body = http_request_body(request, &len);

    if (!params_type(request, "application/json"))
        return;
    agents_events(api->agents, http_request_param(request, "agent"), agent_key(request),
                  body, len, on_acked, parked_create(api, request));
}

void api_agent_announce_leave(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err = {.code = ERROR_NONE};
    json_t *body = params_body(request);
    const char *reason = json_get_str(body, "reason", "");

    if (!body)
        return;
    if (*reason == '\0' || strlen(reason) > NODE_LEAVING_MAX)
        http_reply_problem(request, 422, NULL, "'reason' must be 1 to %d bytes long",
                           NODE_LEAVING_MAX);
    else if (agents_announce_leave(api->agents, http_request_param(request, "agent"),
                                   agent_key(request), reason, &err))
        http_reply_error(request, &err);
    else
        http_reply_empty(request, 204);
    json_decref(body);
}

void api_agent_leave(struct http_request *request, void *arg)
{
    struct api *api = arg;
    struct error err = {.code = ERROR_NONE};

    if (agents_deregister(api->agents, http_request_param(request, "agent"),
                          agent_key(request), &err))
        http_reply_error(request, &err);
    else
        http_reply_empty(request, 204);
}
