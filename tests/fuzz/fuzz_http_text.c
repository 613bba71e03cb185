/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_http_text.c - everything that reads text from a request's head: the target with
 * its query, the router, and the headers that we take apart ourselves. Input: "METHOD
 * TARGET", a newline, a header's value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "server/http/negotiate.h"
#include "server/http/origin.h"
#include "server/http/router.h"
#include "server/http/static_files.h"
#include "server/http/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(struct http_request *request, void *arg)
{
    (void)request;
    (void)arg;
}

static const struct http_route routes[] = {
    {"GET", "/", ROLE_NONE, 0, nothing},
    {"GET", "/api/v1/runs", ROLE_VIEWER, 0, nothing},
    {"POST", "/api/v1/runs", ROLE_OPERATOR, 0, nothing},
    {"GET", "/api/v1/runs/{id}", ROLE_VIEWER, 0, nothing},
    {"DELETE", "/api/v1/runs/{id}", ROLE_OPERATOR, 0, nothing},
    {"GET", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", ROLE_VIEWER, 0, nothing},
    {NULL, NULL, ROLE_NONE, 0, NULL},
};

static void check(int claim)
{
    if (!claim)
        abort();
}

static void check_text(const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t n = utf8_sequence(text, left);

        check(n > 0 && n <= left);
        text += n;
        left -= n;
    }
}

static void check_target(const struct target *target)
{
    check_text(target->path);
    for (size_t i = 0; i < target->n_segments; i++)
        check_text(target->segments[i]);
    for (size_t i = 0; i < target->n_query; i++) {
        check_text(target->query[i].name);
        check_text(target->query[i].value);
        check(target_query(target, target->query[i].name) != NULL);
    }
}

static void fuzz_target(const char *method, const char *uri)
{
    struct target target;
    struct router_match match;
    struct error err = {ERROR_NONE, ""};

    if (target_parse(&target, uri, &err)) {
        check(err.code == ERROR_INVALID || err.code == ERROR_NOT_FOUND);
        check(!target.memory && !target.query);
        return;
    }
    check_target(&target);
    switch (router_match(routes, method, &target, &match)) {
    case ROUTER_FOUND:
        check(match.route != NULL && match.n_params <= ROUTER_PARAMS_MAX);
        for (size_t i = 0; i < match.n_params; i++)
            check(*match.params[i].value != '\0');
        break;
    case ROUTER_NO_METHOD:
        check(*match.allow != '\0');
        break;
    case ROUTER_NO_PATH:
        check(match.route == NULL);
        break;
    }
    target_release(&target);
}

static void fuzz_headers(const char *value)
{
    static const char *const types[] = {"application/json", "text/plain",
                                        "text/event-stream", NULL};
    int choice = negotiate_accept(value, types);

    check(choice >= -1 && choice < 3);
    negotiate_encoding(value, "gzip");
    static_etag_matches(value, "\"0123456789abcdef\"");
    origin_host_is_known(value, "head,head.example");
    origin_matches_host(value, "localhost:8080");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *value, *uri;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    value = strchr(text, '\n');
    if (value)
        *value++ = '\0';
    uri = strchr(text, ' ');
    if (uri)
        *uri++ = '\0';
    fuzz_target(text, uri ? uri : "");
    fuzz_headers(value ? value : "");
    free(text);
    return 0;
}
