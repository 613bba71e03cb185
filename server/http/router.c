/* SPDX-License-Identifier: Apache-2.0 */
/* router.c - finds the route for a method and path in the table of routes */
#include "server/http/router.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool match_segment(const char *pattern, size_t len, const char *segment,
                          struct router_match *match)
{
    if (len > 2 && pattern[0] == '{' && pattern[len - 1] == '}') {
        if (!*segment || match->n_params == ROUTER_PARAMS_MAX)
            return false;
        match->params[match->n_params].name = pattern + 1;
        match->params[match->n_params].name_len = len - 2;
        match->params[match->n_params++].value = segment;
        return true;
    }
    return strlen(segment) == len && !memcmp(segment, pattern, len);
}

static bool match_path(const char *pattern, const struct target *target,
                       struct router_match *match)
{
    size_t i = 0;

    match->n_params = 0;
    while (*pattern == '/') {
        size_t len = strcspn(++pattern, "/");

        if (i == target->n_segments ||
            !match_segment(pattern, len, target->segments[i], match))
            return false;
        pattern += len;
        i++;
    }
    return i == target->n_segments;
}

static void allow_add(char *allow, const char *method)
{
    size_t len = strlen(allow);

    snprintf(allow + len, ROUTER_ALLOW_MAX - len, "%s%s", len ? ", " : "", method);
}

enum router_outcome router_match(const struct http_route *routes, const char *method,
                                 const struct target *target, struct router_match *match)
{
    const char *wanted = strcmp(method, "HEAD") ? method : "GET";
    bool has_path = false;

    memset(match, 0, sizeof(*match));
    for (const struct http_route *route = routes; route->method; route++) {
        if (!match_path(route->pattern, target, match))
            continue;
        if (!strcmp(route->method, wanted)) {
            match->route = route;
            return ROUTER_FOUND;
        }
        has_path = true;
        allow_add(match->allow, route->method);
        if (!strcmp(route->method, "GET"))
            allow_add(match->allow, "HEAD");
    }
    match->n_params = 0;
    if (!has_path)
        return ROUTER_NO_PATH;
    allow_add(match->allow, "OPTIONS");
    return ROUTER_NO_METHOD;
}

const char *router_param(const struct router_match *match, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < match->n_params; i++)
        if (match->params[i].name_len == len && !memcmp(match->params[i].name, name, len))
            return match->params[i].value;
    return NULL;
}
