/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_files.c - the web UI as a browser gets it */
#include <sys/stat.h>

#include "http_fixture.h"
#include "web_tree.h"
#include "tests/unit/test.h"

static struct fixture *fixture;
static struct web_tree tree;

static int start(void **state)
{
    (void)state;
    if (web_tree_create(&tree) || web_tree_put(&tree, "index.html", "page") ||
        web_tree_put(&tree, "app.mjs", "code") ||
        web_tree_put(&tree, "app.mjs.gz", "packed") ||
        mkdir(web_tree_path(&tree, "assets"), 0700) ||
        web_tree_put(&tree, "assets/main-1A2B.js", "hashed") ||
        web_tree_put(&tree, "assets/main-1A2B.js.gz", "packed") ||
        web_tree_put(&tree, "data.json", "{}"))
        return -1;
    fixture = fixture_start(&(struct fixture_options){.web_dir = tree.root});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fixture_stop(fixture);
    return web_tree_remove(&tree);
}

EACH_FIXTURE(start, stop);

static void gives(const char *target, const char *headers, const char *body,
                  const char *type)
{
    struct reply reply;
    char value[256];

    client_ask(fixture, target, headers, NULL, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, body);
    assert_true(reply_header(&reply, "Content-Type", value));
    assert_string_equal(value, type);
    reply_release(&reply);
}

TEST(serves_files_and_views)
{
    static const char html[] = "text/html; charset=utf-8";
    static const char js[] = "text/javascript; charset=utf-8";

    gives("GET /", "", "page", html);
    gives("GET /runs/abc?x=1", "", "page", html);
    gives("GET /nodes/a.b.example", "", "page", html);
    gives("GET /app.mjs", "", "code", js);
    gives("GET /app.mjs", "Accept-Encoding: br\r\n", "code", js);
    gives("GET /app.mjs", "Accept-Encoding: gzip, br\r\n", "packed", js);
    gives("GET /data.json", "", "{}", "application/json");
    gives("GET /healthz", "", "ok\n", "text/plain");
}

TEST(refuses_the_rest)
{
    static const char *const missing[] = {
        "GET /missing.js",
        "GET /api/nope",
        "GET /api",
        "GET /api/",
        "GET /../etc/passwd.txt",
        "GET /%2e%2e/%2e%2e/etc/hosts.txt",
        "GET //app.mjs",
        "POST /api/nope",
        /* A view to look at, and nothing to write to. */
        "POST /runs",
        "DELETE /unknown",
        /* Routes but for the slash, no views. */
        "GET /healthz/",
        "HEAD /healthz/",
        "GET /api/ok/",
    };

    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
        client_expect(fixture, missing[i], "", NULL, 404);
    client_expect(fixture, "POST /", "", "", 405);
    client_expect(fixture, "DELETE /app.mjs", "", NULL, 405);
    client_expect(fixture, "OPTIONS /app.mjs", "", NULL, 204);
    /* These are views of the UI, not files. */
    client_expect(fixture, "GET /../../etc/passwd", "", NULL, 200);
    gives("GET /../../etc/passwd", "", "page", "text/html; charset=utf-8");
}

TEST(sends_a_strict_policy)
{
    struct reply reply;
    char value[256];

    client_ask(fixture, "GET /", "", NULL, &reply);
    assert_true(reply_header(&reply, "Content-Security-Policy", value));
    assert_string_equal(
        value, "default-src 'none'; script-src 'self'; style-src 'self'; "
               "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; "
               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    assert_true(reply_header(&reply, "X-Content-Type-Options", value));
    assert_string_equal(value, "nosniff");
    assert_true(reply_header(&reply, "Referrer-Policy", value));
    assert_string_equal(value, "no-referrer");
    assert_true(reply_header(&reply, "Cache-Control", value));
    assert_string_equal(value, "no-cache");
    reply_release(&reply);
}

TEST(revalidates_by_tag)
{
    struct reply reply;
    char etag[256], gzip_etag[256], header[300];

    client_ask(fixture, "GET /app.mjs", "", NULL, &reply);
    assert_true(reply_header(&reply, "ETag", etag));
    assert_true(reply_header(&reply, "Vary", header));
    reply_release(&reply);
    snprintf(header, sizeof(header), "If-None-Match: %s\r\n", etag);
    client_ask(fixture, "GET /app.mjs", header, NULL, &reply);
    assert_int_equal(reply.status, 304);
    assert_int_equal(reply.len, 0);
    assert_true(reply_header(&reply, "ETag", gzip_etag));
    assert_string_equal(etag, gzip_etag);
    reply_release(&reply);
    snprintf(header, sizeof(header), "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n",
             etag);
    client_ask(fixture, "GET /app.mjs", header, NULL, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "packed");
    assert_true(reply_header(&reply, "Content-Encoding", gzip_etag));
    reply_release(&reply);
    client_expect(fixture, "HEAD /app.mjs", "", NULL, 200);
}

/* What has the hash of its content in its name never changes; what leads to it may. */
TEST(says_what_never_changes)
{
    static const struct {
        const char *target, *headers, *control;
    } cases[] = {
        {"GET /", "", "no-cache"},
        {"GET /runs/assets/", "", "no-cache"},
        {"GET /assets/nothing", "", "no-cache"},
        {"GET /app.mjs", "", "no-cache"},
        {"GET /assets/main-1A2B.js", "", "public, max-age=31536000, immutable"},
        {"GET /assets/main-1A2B.js", "Accept-Encoding: gzip\r\n",
         "public, max-age=31536000, immutable"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reply reply;
        char value[256];

        client_ask(fixture, cases[i].target, cases[i].headers, NULL, &reply);
        assert_int_equal(reply.status, 200);
        assert_true(reply_header(&reply, "Cache-Control", value));
        assert_string_equal(value, cases[i].control);
        assert_true(reply_header(&reply, "ETag", value));
        reply_release(&reply);
    }
    client_expect(fixture, "GET /assets/main-0000.js", "", NULL, 404);
}
