/* SPDX-License-Identifier: Apache-2.0 */
/* test_routes.c - each route is described in openapi.json, agents' also on their page */
#include <ctype.h>

#include "common/base/json_util.h"
#include "server/api/api.h"
#include "server/api/route_params.h"
#include "tests/unit/test.h"

#define BASE "/api/v1"
#define PAGE_MAX ((size_t)1 << 20)

static char *read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, PAGE_MAX);

    assert_non_null(file);
    assert_non_null(text);
    assert_in_range(fread(text, 1, PAGE_MAX - 1, file), 1, PAGE_MAX - 2);
    fclose(file);
    return text;
}

/* tests/integration/reference.test.mjs checks the routes of docs/reference/api.md. */
TEST(the_agent_protocol_has_every_route_and_parameter)
{
    char *page = read_page(SOURCE_DIR "/docs/development/agent-protocol.md");

    for (const struct http_route *route = api_routes(); route->method; route++) {
        char text[200];

        snprintf(text, sizeof(text), "`%s %s", route->method,
                 route->pattern + strlen(BASE));
        if (route->role == ROLE_AGENT && !strstr(page, text))
            fail_msg("agent-protocol.md has no %s", text);
    }
    for (size_t i = 0; all_route_params[i]; i++)
        for (size_t k = 0; k < all_route_params[i]->n; k++)
            if (strstr(all_route_params[i]->pattern, "{agent}") &&
                !strstr(page, all_route_params[i]->list[k].name))
                fail_msg("agent-protocol.md has no parameter %s",
                         all_route_params[i]->list[k].name);
    free(page);
}

/* As docs/reference/api.md says. */
TEST(viewers_read_and_operators_write)
{
    static const char *const open_to_all[] = {"/healthz", "/readyz", "/openapi.json"};
    static const char *const posts_of_viewers[] = {BASE "/runs/validate", BASE "/budget"};

    for (const struct http_route *route = api_routes(); route->method; route++) {
        enum http_role role =
            strcmp(route->method, "GET") == 0 ? ROLE_VIEWER : ROLE_OPERATOR;

        for (size_t i = 0; i < 3; i++)
            if (strcmp(route->pattern, open_to_all[i]) == 0)
                role = ROLE_NONE;
        for (size_t i = 0; i < 2; i++)
            if (strcmp(route->pattern, posts_of_viewers[i]) == 0)
                role = ROLE_VIEWER;
        if (route->role != role && route->role != ROLE_AGENT)
            fail_msg("%s %s", route->method, route->pattern);
    }
}

/* The description's operation of the route, borrowed; or NULL. */
static json_t *operation_of(const json_t *paths, const struct http_route *route)
{
    char method[16] = "";

    for (size_t i = 0; route->method[i] && i + 1 < sizeof(method); i++)
        method[i] = (char)tolower((unsigned char)route->method[i]);
    return json_object_get(json_object_get(paths, route->pattern), method);
}

TEST(routes_and_description_agree)
{
    json_t *api = json_load_file(OPENAPI_JSON, 0, NULL);
    json_t *paths = json_object_get(api, "paths"), *path;
    size_t routes = 0, operations = 0;
    const char *name;

    assert_non_null(paths);
    for (const struct http_route *route = api_routes(); route->method; route++, routes++)
        if (!operation_of(paths, route))
            fail_msg("openapi.json has no %s %s", route->method, route->pattern);
    json_object_foreach (paths, name, path)
        operations += json_object_size(path);
    if (operations != routes)
        fail_msg("openapi.json has %zu operations, of which there are %zu", operations,
                 routes);
    json_decref(api);
}
