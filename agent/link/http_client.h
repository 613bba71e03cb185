/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.h - JSON requests to the server, asynchronously */
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
    struct curl_loop *shared; /* see http_client_loop; NULL: one of its own */
    const char *base_url;     /* without a slash at its end */
    const char *token;        /* or NULL */
    const char *key;          /* the agent's own secret; or NULL */
    const char *ca_file;      /* or NULL: the system's */
    const char *from;         /* the address to connect from; or NULL: any */
};

struct http_reply {
    int status;           /* 0: there was none, see text */
    bool is_hopeless;     /* trying again won't help: a certificate, a file */
    const char *text;     /* "cannot connect ..." or the problem's own words */
    json_t *body;         /* borrowed; NULL when there is none or it is not JSON */
    const char *local_ip; /* our address on that connection, or "" */
    double seconds;       /* since the request was made */
};

/* Everything in the reply is borrowed and gone after the call. The request is over. */
typedef void (*http_reply_fn)(void *arg, const struct http_reply *reply);

struct http_request_params {
    const char *method; /* GET, POST, DELETE */
    const char *path;   /* after the base URL */
    bool is_ndjson;     /* the body's type; else JSON */
    const char *body;   /* copied; NULL: none */
    size_t body_len;
    long timeout_ms; /* for all of it; 0: as long as a connection may take, 30 s or so */
};

/* Descriptors and memory that several clients of one server can share, which must be
 * destroyed (curl_loop_destroy) after them. So many connections are kept open. */
struct curl_loop *http_client_loop(uv_loop_t *loop, long connections);

struct http_client *http_client_create(const struct http_client_params *params);

/* Cancels what is under way. NULL is fine. */
void http_client_destroy(struct http_client *client);

/* Start a request; NULL with the reason when that is not possible. */
struct http_request *http_client_send(struct http_client *client,
                                      const struct http_request_params *params,
                                      http_reply_fn on_reply, void *arg,
                                      struct error *err);

/* Forget a request: on_reply is not called. NULL is fine. */
void http_client_cancel(struct http_request *request);

#endif
