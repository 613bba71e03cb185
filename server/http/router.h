/* SPDX-License-Identifier: Apache-2.0 */
/* router.h - finds the route for a method and path */
#ifndef RINGBENCH_SERVER_HTTP_ROUTER_H
#define RINGBENCH_SERVER_HTTP_ROUTER_H

#include <stddef.h>

#include "server/http/http.h"
#include "server/http/target.h"

#define ROUTER_PARAMS_MAX 8
#define ROUTER_ALLOW_MAX 96

enum router_outcome { ROUTER_FOUND, ROUTER_NO_PATH, ROUTER_NO_METHOD };

struct router_match {
    const struct http_route *route; /* ROUTER_FOUND only */
    struct {
        const char *name; /* points into the pattern */
        size_t name_len;
        const char *value; /* points into the target */
    } params[ROUTER_PARAMS_MAX];
    size_t n_params;
    char allow[ROUTER_ALLOW_MAX]; /* the path's methods, as the Allow header lists them */
};

/* Find the first matching route. GET routes also answer HEAD. */
enum router_outcome router_match(const struct http_route *routes, const char *method,
                                 const struct target *target, struct router_match *match);

/* The value of a {param}, or NULL. */
const char *router_param(const struct router_match *match, const char *name);

#endif
