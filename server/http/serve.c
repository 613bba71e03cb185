/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - runs the handlers of requests on the loop */
#include "common/base/memory.h"
#include "server/http/internal.h"

/* Time per turn of the loop for streams, and the same for small requests; one large
 * request follows. Requests of agents and of other clients alternate, because a thousand
 * agents may post at the same time. */
#define SHARE_NS ((uint64_t)2000000)
/* Maximum number of http_reply_json_in_turn() answers per iteration of the loop. An
 * answer of this kind, a start command, takes 20 us. */
#define TURN_TEXTS 128

static struct http_request *next_request(struct http_server *server,
                                         struct http_request_list *queue)
{
    struct http_request *request;

    uv_mutex_lock(&server->lock);
    request = TAILQ_FIRST(queue);
    if (request)
        TAILQ_REMOVE(queue, request, next);
    uv_mutex_unlock(&server->lock);
    return request;
}

static void check_job_token(struct http_request *request)
{
    struct http_server *server = request->server;
    struct exchange *exchange = request->exchange;

    if (!server->is_agent_token(server->token_check_arg, http_request_token(request))) {
        reply_unauthorized(request);
        return;
    }
    exchange->is_suspended = false;
    MHD_resume_connection(exchange->mhd);
}

static void handle(struct http_request *request)
{
    struct http_server *server = request->server;

    if (server->is_closing) {
        reply_refuse(request, 503, "the server is stopping");
    } else if (request->exchange->phase == EXCHANGE_CHECKING_TOKEN) {
        check_job_token(request);
    } else {
        TAILQ_INSERT_TAIL(&server->handled, request, next);
        request->is_handled = true;
        request->match.route->handler(request, server->arg);
    }
}

/* False: the queue is empty. */
static bool handle_next(struct http_server *server, struct http_request_list *queue)
{
    struct http_request *request = next_request(server, queue);

    if (request)
        handle(request);
    return request != NULL;
}

static bool has_more(struct http_server *server)
{
    bool has_more;

    uv_mutex_lock(&server->lock);
    has_more = !TAILQ_EMPTY(&server->small) || !TAILQ_EMPTY(&server->agents) ||
               !TAILQ_EMPTY(&server->large) || !TAILQ_EMPTY(&server->notices) ||
               (server->has_turns && !send_is_high(server));
    uv_mutex_unlock(&server->lock);
    return has_more;
}

void serve(struct http_server *server)
{
    uint64_t until_ns;
    bool has_handled;

    send_due(server);
    server->texts_left = TURN_TEXTS;
    stream_run_notices(server, uv_hrtime() + SHARE_NS);
    reply_turns(server);
    until_ns = uv_hrtime() + SHARE_NS;
    do {
        has_handled = handle_next(server, &server->small);
        has_handled |= handle_next(server, &server->agents);
    } while (has_handled && uv_hrtime() < until_ns);
    handle_next(server, &server->large);
    if (has_more(server))
        uv_async_send(&server->wake);
}

/* Answer instead of the handler. A handler without `gone` will still answer, so its
 * request is detached. The exchange then gets a new request, which is refused. */
static void abandon(struct http_request *request)
{
    void (*gone)(void *data) = request->gone;
    struct http_request *refused = request;

    if (gone) {
        watch_stop(request->server, &request->watch);
        gone(request->data);
    } else {
        refused = memory_zeroed(1, sizeof(*refused), "an answer");
        refused->server = request->server;
        refused->exchange = request->exchange;
        request_detach(request);
    }
    reply_refuse(refused, 503, "the server is stopping");
}

void serve_no_more(struct http_server *server)
{
    struct http_request *request;

    while (handle_next(server, &server->small) || handle_next(server, &server->agents) ||
           handle_next(server, &server->large))
        continue;
    while ((request = TAILQ_FIRST(&server->handled)))
        abandon(request);
    stream_close_all(server);
}
