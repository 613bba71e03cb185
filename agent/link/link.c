/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - registration, the long poll for commands, and leaving */
#include "agent/link/link.h"

#include <stdlib.h>
#include <string.h>

#include "agent/link/backoff.h"
#include "agent/link/http_client.h"
#include "agent/link/outage.h"
#include "agent/link/sender.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "common/base/version.h"

#define AGENT_ID_MAX 128
#define CONNECT_ALLOWANCE_MS 45000L /* added to the server's poll limit */
#define LEAVE_MS 5000L
#define ANNOUNCE_MS 1000L
/* an empty answer faster than this does not come from a long poll */
#define QUICK_S 0.05

struct link {
    const struct agent_config *config;
    const char *version;
    struct outbox *outbox;
    json_t *inventory;
    struct link_handlers handlers;
    struct http_client *client;
    struct sender *sender;
    struct http_request *request; /* register, poll or leave: one at a time */
    uv_timer_t timer;             /* the next attempt to register or poll */
    struct backoff backoff;
    struct outage outage;
    struct identity *identity;
    char agent[AGENT_ID_MAX + 1]; /* "": not registered */
    bool was_registered, is_polling_over;
    bool is_wait_logged; /* the wait for a name in use was logged */
    int64_t after;
    int64_t lease_s, poll_s;
    int64_t name_taken_ns; /* since when another agent holds this name; 0: none */
};

static void send_register(struct link *link);
static void send_poll(struct link *link);

/* ---- retries ---- */

static void on_timer(uv_timer_t *timer)
{
    struct link *link = timer->data;

    if (link->agent[0] == '\0')
        send_register(link);
    else if (!link->is_polling_over)
        send_poll(link);
}

static void try_later(struct link *link)
{
    uv_timer_start(&link->timer, on_timer, scaled_ms(backoff_next(&link->backoff)), 0);
}

void link_register_again(struct link *link)
{
    http_client_cancel(link->request);
    link->request = NULL;
    link->agent[0] = '\0';
    sender_set_agent(link->sender, NULL);
    /* The server has answered this time, so earlier failures no longer count. */
    backoff_reset(&link->backoff);
    try_later(link);
}

/* ---- callbacks of the sender ---- */

static void on_answer(void *arg)
{
    struct link *link = arg;

    outage_end(&link->outage, link->config->server);
}

static void on_failure(void *arg, const char *text)
{
    struct link *link = arg;

    outage_begin(&link->outage, link->config->server, text);
}

static void on_acked(void *arg)
{
    struct link *link = arg;

    link->handlers.on_acked(link->handlers.arg);
}

static void on_unknown(void *arg)
{
    struct link *link = arg;

    log_debug("the server no longer knows this agent: registering again");
    link_register_again(link);
}

static void on_history_lost(void *arg, const char *text)
{
    struct link *link = arg;
    struct error err;

    if (link->was_registered)
        log_error("the server at %s has lost events that it acknowledged (%s): stopping "
                  "all workers and registering as a new agent",
                  link->config->server, text);
    else
        log_info(
            "the server at %s does not know the earlier agent whose events are in %s "
            "(%s): dropping them and registering as a new agent",
            link->config->server, link->config->spool_dir, text);
    if (identity_renew(link->identity, &err))
        log_warn("%s", err.text);
    link->handlers.on_history_lost(link->handlers.arg);
    link_register_again(link);
}

/* ---- commands ---- */

static void run_command(struct link *link, const json_t *object)
{
    struct command command;
    struct error err;

    if (command_parse(object, &command, &err)) {
        int64_t seq = json_get_int(object, "seq", 0);

        log_warn("ignoring a command of the server: %s", err.text);
        if (seq > link->after)
            link->after = seq;
        return;
    }
    if (command.seq > link->after) {
        link->after = command.seq;
        link->handlers.on_command(link->handlers.arg, &command);
    }
    command_release(&command);
}

static void on_poll_reply(void *arg, const struct http_reply *reply)
{
    struct link *link = arg;
    int64_t before = link->after;
    const json_t *commands = json_object_get(reply->body, "commands");
    size_t i;
    json_t *item;

    link->request = NULL;
    if (reply->status == 404) {
        on_unknown(link);
        return;
    }
    if (reply->status != 200 && reply->status != 204) {
        on_failure(link, reply->text);
        try_later(link);
        return;
    }
    outage_end(&link->outage, link->config->server);
    json_array_foreach (commands, i, item)
        run_command(link, item);
    if (link->is_polling_over)
        return;
    if (link->after == before && reply->seconds < QUICK_S) {
        try_later(link);
        return;
    }
    backoff_reset(&link->backoff);
    send_poll(link);
}

static void send_poll(struct link *link)
{
    char path[AGENT_ID_MAX + 64];
    struct http_request_params params = {.method = "GET",
                                         .path = path,
                                         .timeout_ms = (long)link->poll_s * 1000 +
                                                       CONNECT_ALLOWANCE_MS};
    struct error err;

    snprintf(path, sizeof(path), "/api/v1/agents/%s/commands?after=%lld%s", link->agent,
             (long long)link->after,
             outbox_is_blocked(link->outbox) ? "&spool_full=true" : "");
    link->request = http_client_send(link->client, &params, on_poll_reply, link, &err);
    if (link->request)
        return;
    on_failure(link, err.text);
    try_later(link);
}

/* ---- registration ---- */

static json_t *registration(const struct link *link)
{
    const struct agent_config *config = link->config;

    return json_pack(
        "{s:i, s:s, s:s, s:s, s:s?, s:O, s:I, s:s?, s:s, s:b, s:O, s:o}", "protocol",
        AGENT_PROTOCOL, "name", config->name, "boot_id", link->identity->boot_id,
        "version", link->version, "group", config->group, "labels", config->labels,
        "ranks", (json_int_t)config->ranks, "advertise", config->advertise, "server_host",
        config->server_host, "once", config->once, "inventory", link->inventory, "cases",
        link->handlers.cases(link->handlers.arg));
}

static bool is_agent_id(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789._-");

    return len > 0 && len <= AGENT_ID_MAX && text[len] == '\0';
}

static int64_t get_seconds(const json_t *body, const char *key, int64_t fallback)
{
    int64_t value = json_get_int(body, key, fallback);

    return value < 1 || value > 3600 ? fallback : value;
}

static void on_registered(struct link *link, const struct http_reply *reply)
{
    const char *agent = json_get_str(reply->body, "agent", "");
    int64_t acked = json_get_int(reply->body, "acked", 0);
    struct error err;

    if (!is_agent_id(agent)) {
        on_failure(link, "the answer to the registration contains no valid agent id");
        try_later(link);
        return;
    }
    outage_end(&link->outage, link->config->server);
    if (outbox_ack(link->outbox, acked < 0 ? 0 : (uint64_t)acked, &err)) {
        on_history_lost(link, err.text);
        return;
    }
    if (!link->was_registered)
        log_info("registered with %s as %s", link->config->server, link->config->name);
    memcpy(link->agent, agent, strlen(agent) + 1);
    link->was_registered = true;
    link->name_taken_ns = 0;
    link->lease_s = get_seconds(reply->body, "lease_s", 15);
    link->poll_s = get_seconds(reply->body, "poll_s", 5);
    link->after = 0;
    backoff_reset(&link->backoff);
    link->handlers.on_registered(link->handlers.arg, reply->local_ip);
    sender_set_agent(link->sender, link->agent);
    link->handlers.on_acked(link->handlers.arg);
    if (!link->is_polling_over && link->agent[0] != '\0')
        send_poll(link);
}

static void fail_registration(struct link *link, const char *text)
{
    link->handlers.on_fatal(link->handlers.arg, text);
}

/* Wait for a name that the server expects to be free soon. The name's holder may be an
 * earlier start of this agent whose key is lost. */
static void wait_for_name(struct link *link, const char *detail)
{
    if (!link->is_wait_logged)
        log_warn("waiting for the name '%s': %s", link->config->name, detail);
    link->is_wait_logged = true;
    try_later(link);
}

/* Another agent holds the name. The holder may be this agent's earlier registration,
 * whose lease has not expired, so retry for the length of a lease. */
static void on_name_held(struct link *link, const char *detail)
{
    int64_t now = clock_monotonic_ns();
    char text[768];

    if (link->was_registered) {
        if (link->name_taken_ns == 0)
            link->name_taken_ns = now;
        if (now - link->name_taken_ns <
            scaled_s_to_ns(link->lease_s) + scaled_s_to_ns(5)) {
            on_failure(link, detail);
            try_later(link);
            return;
        }
    }
    snprintf(text, sizeof(text),
             "the name '%s' is held by another live agent at %s: %s (choose another name "
             "with --name)",
             link->config->name, link->config->server, detail);
    fail_registration(link, text);
}

static void on_register_refused(struct link *link, const struct http_reply *reply)
{
    char text[768];

    snprintf(text, sizeof(text), "%s%s: %s", link->config->server,
             reply->status ? " refuses this agent" : "", reply->text);
    fail_registration(link, text);
}

static void on_register_reply(void *arg, const struct http_reply *reply)
{
    struct link *link = arg;
    bool is_first = !link->was_registered;

    link->request = NULL;
    switch (reply->status) {
    case 200:
    case 201:
        on_registered(link, reply);
        return;
    case 409:
        if (json_get_int(reply->body, "retry_after_s", 0) > 0)
            wait_for_name(link, reply->text);
        else
            on_name_held(link, reply->text);
        return;
    case 400:
    case 401:
    case 403:
    case 404:
    case 413:
    case 422:
        /* After a reconnect the server may still be starting, so keep the workers and
         * retry. */
        if (is_first) {
            on_register_refused(link, reply);
            return;
        }
        break;
    default:
        break;
    }
    if (is_first && reply->is_hopeless) {
        on_register_refused(link, reply);
        return;
    }
    on_failure(link, reply->text);
    try_later(link);
}

static void send_register(struct link *link)
{
    json_t *body = registration(link);
    char *text = json_text(body);
    struct http_request_params params = {
        .method = "POST", .path = "/api/v1/agents", .body = text};
    struct error err;

    if (!text)
        memory_out("a registration");
    params.body_len = strlen(text);
    link->request =
        http_client_send(link->client, &params, on_register_reply, link, &err);
    free(text);
    json_decref(body);
    if (link->request)
        return;
    on_failure(link, err.text);
    try_later(link);
}

void link_start(struct link *link)
{
    send_register(link);
}

bool link_was_registered(const struct link *link)
{
    return link->was_registered;
}

void link_kick(struct link *link)
{
    sender_kick(link->sender);
}

void link_kick_soon(struct link *link)
{
    sender_kick_soon(link->sender);
}

/* ---- leaving ---- */

void link_stop_polling(struct link *link)
{
    link->is_polling_over = true;
    if (link->agent[0] == '\0')
        return; /* continue registering, as events may still have to be delivered */
    http_client_cancel(link->request);
    link->request = NULL;
    uv_timer_stop(&link->timer);
}

static void on_announce_reply(void *arg, const struct http_reply *reply)
{
    struct link *link = arg;

    link->request = NULL;
    if (reply->status != 204)
        log_debug("cannot announce the leave to the server: %s", reply->text);
    sender_set_agent(link->sender, link->agent);
    link->handlers.on_announced(link->handlers.arg);
}

bool link_announce_leave(struct link *link, const char *reason)
{
    char path[AGENT_ID_MAX + 32];
    json_t *body = json_pack("{s:s}", "reason", reason);
    char *text = body ? json_text(body) : NULL;
    struct http_request_params params = {
        .method = "POST", .path = path, .body = text, .timeout_ms = ANNOUNCE_MS};

    snprintf(path, sizeof(path), "/api/v1/agents/%s/leave", link->agent);
    if (text && link->agent[0] != '\0') {
        params.body_len = strlen(text);
        http_client_cancel(link->request);
        link->request =
            http_client_send(link->client, &params, on_announce_reply, link, NULL);
        /* Hold events back until the server knows the reason. A signal to all processes
         * of a job also ends workers, whose exit events would arrive first. */
        if (link->request)
            sender_set_agent(link->sender, NULL);
    }
    free(text);
    json_decref(body);
    return link->agent[0] != '\0' && link->request;
}

static void on_leave_reply(void *arg, const struct http_reply *reply)
{
    struct link *link = arg;

    link->request = NULL;
    if (reply->status != 204 && reply->status != 404)
        log_warn("cannot deregister from %s: %s", link->config->server, reply->text);
    link->handlers.on_left(link->handlers.arg);
}

void link_deregister(struct link *link)
{
    char path[AGENT_ID_MAX + 32];
    struct http_request_params params = {
        .method = "DELETE", .path = path, .timeout_ms = LEAVE_MS};

    snprintf(path, sizeof(path), "/api/v1/agents/%s", link->agent);
    sender_set_agent(link->sender, NULL);
    http_client_cancel(link->request);
    link->request = NULL;
    uv_timer_stop(&link->timer);
    if (link->agent[0] != '\0')
        link->request =
            http_client_send(link->client, &params, on_leave_reply, link, NULL);
    if (!link->request)
        link->handlers.on_left(link->handlers.arg);
}

/* ---- creation and destruction ---- */

static void create_parts(struct link *link, const struct link_params *params)
{
    struct http_client_params client = {.loop = params->loop,
                                        .shared = params->shared,
                                        .from = params->from,
                                        .base_url = link->config->server,
                                        .token = link->config->token,
                                        .key = link->identity->key,
                                        .ca_file = link->config->ca_file};
    struct sender_handlers handlers = {.on_answer = on_answer,
                                       .on_failure = on_failure,
                                       .on_acked = on_acked,
                                       .on_unknown = on_unknown,
                                       .on_history_lost = on_history_lost,
                                       .arg = link};

    link->client = http_client_create(&client);
    link->sender = sender_create(params->loop, link->client, link->outbox, &handlers);
}

struct link *link_create(const struct link_params *params)
{
    struct link *link = memory_zeroed(1, sizeof(*link), "a link");

    link->config = params->config;
    link->version = params->version;
    link->identity = params->identity;
    link->outbox = params->outbox;
    link->inventory = params->inventory;
    link->handlers = params->handlers;
    link->lease_s = 15;
    link->poll_s = 5;
    create_parts(link, params);
    uv_timer_init(params->loop, &link->timer);
    link->timer.data = link;
    return link;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void link_destroy(struct link *link)
{
    if (!link)
        return;
    sender_destroy(link->sender);
    http_client_destroy(link->client);
    uv_close((uv_handle_t *)&link->timer, on_closed);
}
