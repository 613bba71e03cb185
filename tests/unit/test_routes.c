/* test_routes.c - each route is described: in openapi.json, and on its page */
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

/* `METHOD PATH`, or `METHOD PATH?QUERY`, with or without what all paths begin with. */
static bool is_on_page(const char *page, const struct http_route *route)
{
    bool has_base = strncmp(route->pattern, BASE "/", strlen(BASE "/")) == 0;

    for (int i = 0; i <= has_base; i++) {
        const char *path = route->pattern + (i ? strlen(BASE) : 0);
        char text[200];

        snprintf(text, sizeof(text), "`%s %s", route->method, path);
        for (const char *at = page; (at = strstr(at, text)); at++)
            if (at[strlen(text)] == '`' || at[strlen(text)] == '?')
                return true;
    }
    return false;
}

TEST(routes_are_on_the_pages)
{
    char *people = read_page(SOURCE_DIR "/docs/reference/api.md");
    char *agents = read_page(SOURCE_DIR "/docs/development/agent-protocol.md");

    for (const struct http_route *route = api_routes(); route->method; route++)
        if (!is_on_page(route->role == ROLE_AGENT ? agents : people, route))
            fail_msg("%s is not in %s.md: it has no `%s %s`", route->pattern,
                     route->role == ROLE_AGENT ? "agent-protocol" : "api", route->method,
                     route->pattern);
    free(people);
    free(agents);
}

/* Whether the page names the parameter where it describes the route: in an item of a list
 * that begins with `METHOD PATH, or in the section after it. */
static bool names_param(const char *page, const struct route_params *route,
                        const char *param)
{
    char text[200];

    snprintf(text, sizeof(text), "`%s %s", route->method, route->pattern + strlen(BASE));
    for (const char *at = page; (at = strstr(at, text)); at++) {
        bool is_item = at - page > 2 && at[-2] == '-';
        const char *end = strstr(at, is_item ? "\n- `" : "\n## ");
        const char *named = strstr(at, param);
        char next = at[strlen(text)];

        if ((next == '`' || next == '?') && named && (!end || named < end))
            return true;
    }
    return false;
}

TEST(pages_have_the_parameters_of_routes)
{
    char *people = read_page(SOURCE_DIR "/docs/reference/api.md");
    char *agents = read_page(SOURCE_DIR "/docs/development/agent-protocol.md");

    for (size_t i = 0; all_route_params[i]; i++) {
        const struct route_params *route = all_route_params[i];
        bool is_agents = strstr(route->pattern, "{agent}") != NULL;

        for (size_t k = 0; k < route->n; k++)
            if (!names_param(is_agents ? agents : people, route, route->list[k].name))
                fail_msg("%s.md has no parameter %s of %s %s",
                         is_agents ? "agent-protocol" : "api", route->list[k].name,
                         route->method, route->pattern);
    }
    free(people);
    free(agents);
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
