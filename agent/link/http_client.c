/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.c - asynchronous JSON requests to the server */
#include "agent/link/http_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "agent/link/curl_loop.h"
#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"

#define REPLY_MAX ((size_t)16 * 1024 * 1024)
/* connections per client: one for the poll, one for events, and a spare one */
#define CONNECTIONS 3L
#define CONNECT_MS 30000L
#define CONNECT_JITTER_MS 10000L
/* A peer that disappears without closing its connection is detected within DEAD_PEER_MS,
 * or within KEEPALIVE_IDLE_S and one interval if the connection is idle. */
#define DEAD_PEER_MS 10000
#define KEEPALIVE_IDLE_S 10
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 4

struct http_client {
    struct curl_loop *loop;
    bool is_loop_shared;
    char *base_url;
    char *ca_file;
    char *from;                    /* value of CURLOPT_INTERFACE, or NULL */
    struct curl_slist *headers[2]; /* for a JSON body, for NDJSON */
    struct http_request *first;
};

struct http_request {
    struct http_client *client;
    struct http_request *next;
    CURL *easy;
    http_reply_fn on_reply;
    void *arg;
    struct buf body;
    char error[CURL_ERROR_SIZE];
};

static long jitter(long max)
{
    uint32_t random = 0;

    if (getrandom(&random, sizeof(random), 0) < 0)
        return 0;
    return (long)(random % (uint32_t)max);
}

/* libcurl's sockets stay open across exec by default. Without FD_CLOEXEC, a worker would
 * keep the agent's connection open. */
static int on_new_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
    int on = 1, idle_s = KEEPALIVE_IDLE_S, interval_s = KEEPALIVE_INTERVAL_S;
    int probes = KEEPALIVE_PROBES, dead_ms = DEAD_PEER_MS;

    (void)arg;
    (void)purpose;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms));
    return CURL_SOCKOPT_OK;
}

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct http_request *request = arg;

    return buf_append(&request->body, data, size * n) ? 0 : size * n;
}

static void free_request(struct http_request *request)
{
    struct http_request **at = &request->client->first;

    while (*at && *at != request)
        at = &(*at)->next;
    if (*at)
        *at = request->next;
    curl_easy_cleanup(request->easy);
    buf_release(&request->body);
    free(request);
}

static bool is_hopeless(CURLcode code)
{
    switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
        return true;
    default:
        return false;
    }
}

/* Adds the first invalid field. */
static void describe_problem(const json_t *problem, int status, char *text, size_t size)
{
    const json_t *first = json_array_get(json_object_get(problem, "errors"), 0);
    const char *detail = json_get_str(problem, "detail", NULL);

    if (!detail)
        detail = json_get_str(problem, "title", NULL);
    if (!detail)
        snprintf(text, size, "HTTP status %d", status);
    else if (first)
        snprintf(text, size, "%s (%s: %s)", detail, json_get_str(first, "pointer", ""),
                 json_get_str(first, "detail", ""));
    else
        snprintf(text, size, "%s", detail);
}

static void fill_reply(struct http_request *request, CURLcode code,
                       struct http_reply *reply, char *text, size_t size)
{
    long status = 0;

    memset(reply, 0, sizeof(*reply));
    curl_easy_getinfo(request->easy, CURLINFO_TOTAL_TIME, &reply->seconds);
    if (curl_easy_getinfo(request->easy, CURLINFO_LOCAL_IP, &reply->local_ip) ||
        !reply->local_ip)
        reply->local_ip = "";
    reply->text = text;
    if (code) {
        reply->is_hopeless = is_hopeless(code);
        snprintf(text, size, "%s%s",
                 code == CURLE_PEER_FAILED_VERIFICATION
                     ? "this agent does not trust the server's certificate (--ca-file): "
                     : "",
                 request->error[0] ? request->error : curl_easy_strerror(code));
        return;
    }
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    reply->status = (int)status;
    if (request->body.len > 0)
        reply->body = json_parse(request->body.data, request->body.len, NULL);
    describe_problem(reply->body, reply->status, text, size);
}

static void on_done(CURL *easy, CURLcode code)
{
    struct http_request *request = NULL;
    struct http_reply reply;
    http_reply_fn on_reply;
    void *arg;
    char text[512];

    if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &request) || !request)
        return;
    on_reply = request->on_reply;
    arg = request->arg;
    fill_reply(request, code, &reply, text, sizeof(text));
    request->on_reply = NULL; /* http_client_cancel does nothing after this point */
    on_reply(arg, &reply);
    json_decref(reply.body);
    free_request(request);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *text)
{
    list = curl_slist_append(list, text);
    if (!list)
        memory_out("a header");
    return list;
}

static struct curl_slist *make_headers(const struct http_client_params *params,
                                       const char *type)
{
    struct curl_slist *list = NULL;
    char text[8192];

    /* An empty Expect header disables "100-continue", which costs a round trip or, with
     * some servers, a second. */
    list = add_header(list, "Expect:");
    snprintf(text, sizeof(text), "Content-Type: %s", type);
    list = add_header(list, text);
    if (params->token) {
        snprintf(text, sizeof(text), "Authorization: Bearer %s", params->token);
        list = add_header(list, text);
    }
    if (params->key) {
        snprintf(text, sizeof(text), "Ringbench-Agent-Key: %s", params->key);
        list = add_header(list, text);
    }
    return list;
}

struct curl_loop *http_client_loop(uv_loop_t *loop, long connections)
{
    return curl_loop_create(loop, connections, on_done);
}

struct http_client *http_client_create(const struct http_client_params *params)
{
    struct http_client *client = memory_zeroed(1, sizeof(*client), "an HTTP client");

    client->base_url = memory_text(params->base_url, "a URL");
    client->ca_file = memory_text(params->ca_file, "a path");
    client->from = memory_text(params->from, "an address");
    client->headers[0] = make_headers(params, "application/json");
    client->headers[1] = make_headers(params, "application/x-ndjson");
    client->is_loop_shared = params->shared != NULL;
    client->loop =
        params->shared ? params->shared : http_client_loop(params->loop, CONNECTIONS);
    return client;
}

void http_client_destroy(struct http_client *client)
{
    if (!client)
        return;
    while (client->first)
        http_client_cancel(client->first);
    if (!client->is_loop_shared)
        curl_loop_destroy(client->loop);
    curl_slist_free_all(client->headers[0]);
    curl_slist_free_all(client->headers[1]);
    free(client->base_url);
    free(client->ca_file);
    free(client->from);
    free(client);
}

static void set_options(struct http_request *request,
                        const struct http_request_params *params, const char *url)
{
    const struct http_client *client = request->client;
    CURL *easy = request->easy;
    long connect_ms = CONNECT_MS + jitter(CONNECT_JITTER_MS);

    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->error);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "ringbench-agent/" RINGBENCH_VERSION);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, client->headers[params->is_ndjson]);
    /* The timeout includes the TLS handshake, which is slow when a thousand agents
     * connect to a server at once. */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     params->timeout_ms ? params->timeout_ms : 2 * connect_ms);
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    if (client->from)
        curl_easy_setopt(easy, CURLOPT_INTERFACE, client->from);
    if (params->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)params->body_len);
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, params->body);
    }
    if (strcmp(params->method, "DELETE") == 0)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
}

struct http_request *http_client_send(struct http_client *client,
                                      const struct http_request_params *params,
                                      http_reply_fn on_reply, void *arg,
                                      struct error *err)
{
    struct http_request *request = memory_zeroed(1, sizeof(*request), "a request");
    char url[8192];

    request->client = client;
    request->on_reply = on_reply;
    request->arg = arg;
    buf_init(&request->body, REPLY_MAX);
    request->next = client->first;
    client->first = request;
    snprintf(url, sizeof(url), "%s%s", client->base_url, params->path);
    request->easy = curl_easy_init();
    if (!request->easy)
        memory_out("a request");
    set_options(request, params, url);
    if (curl_loop_add(client->loop, request->easy, err)) {
        free_request(request);
        return NULL;
    }
    return request;
}

void http_client_cancel(struct http_request *request)
{
    if (!request || !request->on_reply)
        return;
    curl_loop_remove(request->client->loop, request->easy);
    free_request(request);
}
