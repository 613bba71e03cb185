/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.h - asynchronous JSON requests to the server */
#ifndef RINGBENCH_AGENT_LINK_HTTP_CLIENT_H
#define RINGBENCH_AGENT_LINK_HTTP_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/base/error.h"

struct http_client;
struct http_request;

struct curl_loop;

struct http_client_params {
    uv_loop_t *loop;
    struct curl_loop *shared; /* from http_client_loop; NULL: the client makes its own */
    const char *base_url;     /* without a trailing slash */
    const char *token;        /* or NULL */
    const char *key;          /* the agent's own secret; or NULL */
    const char *ca_file;      /* NULL: the system's certificates */
    const char *from;         /* the address to connect from; NULL: any */
};

struct http_reply {
    int status;           /* 0: no reply; `text` is the reason */
    bool is_hopeless;     /* a retry cannot succeed, as with an invalid certificate */
    const char *text;     /* libcurl's error, or the detail of the problem document */
    json_t *body;         /* borrowed; NULL if there is none or it is not JSON */
    const char *local_ip; /* this end's address on the connection, or "" */
    double seconds;       /* duration of the request */
};

/* Called once when the request has ended. The reply is valid only during the call. */
typedef void (*http_reply_fn)(void *arg, const struct http_reply *reply);

struct http_request_params {
    const char *method; /* GET, POST, DELETE */
    const char *path;   /* after the base URL */
    bool is_ndjson;     /* the body is NDJSON instead of JSON */
    const char *body;   /* copied; NULL: none */
    size_t body_len;
    long timeout_ms; /* limit for the whole request; 0: 60 to 80 s */
};

/* A curl loop that several clients of one server share. The caller destroys it with
 * curl_loop_destroy after the clients. `connections` limits the idle connections. */
struct curl_loop *http_client_loop(uv_loop_t *loop, long connections);

struct http_client *http_client_create(const struct http_client_params *params);

/* Cancels pending requests. Accepts NULL. */
void http_client_destroy(struct http_client *client);

/* Start a request. Returns NULL with the reason in *err on failure. */
struct http_request *http_client_send(struct http_client *client,
                                      const struct http_request_params *params,
                                      http_reply_fn on_reply, void *arg,
                                      struct error *err);

/* End a request without calling on_reply. Accepts NULL. */
void http_client_cancel(struct http_request *request);

#endif
