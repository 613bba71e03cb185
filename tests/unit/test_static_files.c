/* SPDX-License-Identifier: Apache-2.0 */
/* test_static_files.c - which files are read and under which paths they are found */
#include "server/http/static_files.h"
#include "web_tree.h"
#include "tests/unit/test.h"

static struct web_tree tree;

static int make_tree(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"outside", "secret"},         {"www/index.html", "<!doctype html>"},
        {"www/app.mjs", "export {};"}, {"www/app.mjs.gz", "compressed"},
        {"www/vendor/x.css", "p{}"},   {"www/blob.xyz", "?"},
        {"www/empty.txt", ""},         {"www/.git/config", "secret"},
        {"www/.hidden", "secret"},
    };

    (void)state;
    if (web_tree_create(&tree) || mkdir(web_tree_path(&tree, "www"), 0700) ||
        mkdir(web_tree_path(&tree, "www/vendor"), 0700) ||
        mkdir(web_tree_path(&tree, "www/.git"), 0700) ||
        mkdir(web_tree_path(&tree, "bare"), 0700))
        return -1;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (web_tree_put(&tree, files[i].name, files[i].text))
            return -1;
    return symlink("../outside", web_tree_path(&tree, "www/leak.txt")) ||
           symlink("..", web_tree_path(&tree, "www/up")) ||
           symlink("app.mjs", web_tree_path(&tree, "www/alias.mjs")) ||
           mkfifo(web_tree_path(&tree, "www/pipe"), 0600);
}

static int remove_tree(void **state)
{
    (void)state;
    return web_tree_remove(&tree);
}

GROUP_FIXTURE(make_tree, remove_tree);

static struct static_files *load(void)
{
    struct error err = {ERROR_NONE, ""};
    struct static_files *files = static_files_load(web_tree_path(&tree, "www"), &err);

    if (!files)
        fail_msg("%s", err.text);
    return files;
}

TEST(finds_files_and_views)
{
    static const struct {
        const char *path, *found, *type;
    } cases[] = {
        {"/", "/index.html", "text/html; charset=utf-8"},
        {"/index.html", "/index.html", "text/html; charset=utf-8"},
        {"/app.mjs", "/app.mjs", "text/javascript; charset=utf-8"},
        {"/alias.mjs", "/alias.mjs", "text/javascript; charset=utf-8"},
        {"/vendor/x.css", "/vendor/x.css", "text/css; charset=utf-8"},
        {"/blob.xyz", "/blob.xyz", "application/octet-stream"},
        {"/empty.txt", "/empty.txt", "text/plain; charset=utf-8"},
        {"/runs/abc", "/index.html", "text/html; charset=utf-8"},
        {"/nodes/node-1.cluster.example", "/index.html", "text/html; charset=utf-8"},
        {"/vendor", "/index.html", "text/html; charset=utf-8"},
        {"/missing.js", NULL, NULL},
        {"/vendor/missing.css", NULL, NULL},
        {"/runs/index.html", NULL, NULL},
    };
    struct static_files *files = load();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct static_file *file = static_files_find(files, cases[i].path);

        if (!cases[i].found) {
            assert_null(file);
            continue;
        }
        assert_non_null(file);
        assert_string_equal(file->path, cases[i].found);
        assert_string_equal(file->content_type, cases[i].type);
    }
    static_files_destroy(files);
}

TEST(never_leaves_the_directory)
{
    static const char *const paths[] = {
        "/../outside",  "/leak.txt", "/up/outside",  "/vendor/../../outside.txt",
        "/.git/config", "/.hidden",  "//etc/passwd", "/./.hidden",
        "/etc/passwd",  "/pipe",
    };
    struct static_files *files = load();

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct static_file *file = static_files_find(files, paths[i]);

        assert_true(!file || !strcmp(file->path, "/index.html"));
    }
    static_files_destroy(files);
}

TEST(tags_content)
{
    struct static_files *files = load();
    const struct static_file *app = static_files_find(files, "/app.mjs");
    const struct static_file *css = static_files_find(files, "/vendor/x.css");
    char list[128];

    assert_memory_equal(app->gzip_data, "compressed", 10);
    assert_null(css->gzip_data);
    assert_string_not_equal(app->etag, css->etag);
    assert_string_not_equal(app->etag, app->gzip_etag);
    assert_true(static_etag_matches(app->etag, app->etag));
    snprintf(list, sizeof(list), "\"other\" , W/%s", app->etag);
    assert_true(static_etag_matches(list, app->etag));
    assert_true(static_etag_matches("*", app->etag));
    assert_false(static_etag_matches(css->etag, app->etag));
    assert_false(static_etag_matches("", app->etag));
    assert_false(static_etag_matches(NULL, app->etag));
    static_files_destroy(files);
}

TEST(refuses_a_directory_without_a_page)
{
    struct error err;

    assert_null(static_files_load("/nonexistent", &err));
    assert_non_null(strstr(err.text, "/nonexistent"));
    assert_null(static_files_load(web_tree_path(&tree, "bare"), &err));
    assert_non_null(strstr(err.text, "no index.html"));
}
