/* SPDX-License-Identifier: Apache-2.0 */
/* test_router.c - which route a method and path reach */
#include "server/http/router.h"
#include "tests/unit/test.h"

static void nothing(struct http_request *request, void *arg)
{
    (void)request;
    (void)arg;
}

static const struct http_route routes[] = {
    {"GET", "/", ROLE_NONE, 0, nothing},
    {"GET", "/runs", ROLE_NONE, 0, nothing},
    {"POST", "/runs", ROLE_NONE, 0, nothing},
    {"GET", "/runs/latest", ROLE_NONE, 0, nothing},
    {"GET", "/runs/{id}", ROLE_NONE, 0, nothing},
    {"DELETE", "/runs/{id}", ROLE_NONE, 0, nothing},
    {"POST", "/runs/{id}/cases/{case}", ROLE_NONE, 0, nothing},
    {NULL, NULL, ROLE_NONE, 0, NULL},
};

TEST(matches_by_method_and_path)
{
    static const struct {
        const char *method, *uri;
        enum router_outcome outcome;
        int route;         /* index, when found */
        const char *allow; /* when the method is wrong */
    } cases[] = {
        {"GET", "/", ROUTER_FOUND, 0, NULL},
        {"GET", "/runs", ROUTER_FOUND, 1, NULL},
        {"HEAD", "/runs", ROUTER_FOUND, 1, NULL},
        {"POST", "/runs?x=1", ROUTER_FOUND, 2, NULL},
        {"GET", "/runs/latest", ROUTER_FOUND, 3, NULL},
        {"GET", "/runs/other", ROUTER_FOUND, 4, NULL},
        {"GET", "/%72uns/other", ROUTER_FOUND, 4, NULL},
        {"DELETE", "/runs/latest", ROUTER_FOUND, 5, NULL},
        {"POST", "/runs/a/cases/7", ROUTER_FOUND, 6, NULL},
        {"GET", "/runs/", ROUTER_NO_PATH, 0, NULL},
        {"GET", "/runs/a/", ROUTER_NO_PATH, 0, NULL},
        {"GET", "/runs/a/cases", ROUTER_NO_PATH, 0, NULL},
        {"GET", "/runs%2Fa", ROUTER_NO_PATH, 0, NULL},
        {"GET", "/Runs", ROUTER_NO_PATH, 0, NULL},
        {"GET", "*", ROUTER_NO_PATH, 0, NULL},
        {"PUT", "/runs", ROUTER_NO_METHOD, 0, "GET, HEAD, POST, OPTIONS"},
        {"get", "/runs", ROUTER_NO_METHOD, 0, "GET, HEAD, POST, OPTIONS"},
        {"GET", "/runs/a/cases/7", ROUTER_NO_METHOD, 0, "POST, OPTIONS"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct target target;
        struct router_match match;

        assert_int_equal(target_parse(&target, cases[i].uri, NULL), 0);
        assert_int_equal(router_match(routes, cases[i].method, &target, &match),
                         cases[i].outcome);
        if (cases[i].outcome == ROUTER_FOUND)
            assert_ptr_equal(match.route, &routes[cases[i].route]);
        if (cases[i].allow)
            assert_string_equal(match.allow, cases[i].allow);
        target_release(&target);
    }
}

TEST(gives_parameters_decoded)
{
    struct target target;
    struct router_match match;

    target_parse(&target, "/runs/a%2Fb%20c/cases/7", NULL);
    assert_int_equal(router_match(routes, "POST", &target, &match), ROUTER_FOUND);
    assert_string_equal(router_param(&match, "id"), "a/b c");
    assert_string_equal(router_param(&match, "case"), "7");
    assert_null(router_param(&match, "cas"));
    assert_null(router_param(&match, "cases"));
    target_release(&target);
}
