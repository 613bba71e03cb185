/* SPDX-License-Identifier: Apache-2.0 */
/* test_auth.c - the token file and what tokens allow */
#include <sys/stat.h>

#include "server/http/auth.h"
#include "tests/unit/test.h"

#define VIEWER "viewer-token-0123456789"
#define OPERATOR "operator-token-0123456789"
#define AGENT "agent-token-0123456789"
#define ANY "any-token-0123456789"

static char path[] = "/tmp/ringbench-auth-XXXXXX";

static struct http_auth *load(const char *text, mode_t mode, struct error *err)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
    return http_auth_load(path, err);
}

static void refused(const char *text, mode_t mode, const char *reason)
{
    struct error err = {ERROR_NONE, ""};

    assert_null(load(text, mode, &err));
    if (!strstr(err.text, reason))
        fail_msg("\"%s\" does not say \"%s\"", err.text, reason);
    assert_non_null(strstr(err.text, path));
    assert_null(strstr(err.text, "secret"));
}

TEST(allows_by_role)
{
    /* rows: tokens; columns: ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_AGENT */
    static const struct {
        const char *header;
        int status[4];
    } cases[] = {
        {NULL, {0, 401, 401, 401}},
        {"", {0, 401, 401, 401}},
        {"Bearer", {0, 401, 401, 401}},
        {"Bearer ", {0, 401, 401, 401}},
        {"Basic " VIEWER, {0, 401, 401, 401}},
        {"Bearer viewer-token-012345678", {0, 401, 401, 401}},
        {"Bearer " VIEWER "0", {0, 401, 401, 401}},
        {"Bearer " VIEWER, {0, 0, 403, 403}},
        {"bearer   " VIEWER, {0, 0, 403, 403}},
        {"Bearer " OPERATOR, {0, 0, 0, 403}},
        {"Bearer " AGENT, {0, 0, 403, 0}},
        {"Bearer " ANY, {0, 0, 0, 0}},
    };
    struct error err = {ERROR_NONE, ""};
    struct http_auth *auth = load("# tokens\n\nviewer " VIEWER "\noperator\t" OPERATOR
                                  " ann@example\r\n agent " AGENT " \n" ANY,
                                  0600, &err);

    assert_non_null(auth);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int role = ROLE_NONE; role <= ROLE_AGENT; role++)
            assert_int_equal(http_auth_check(auth, cases[i].header, (enum http_role)role),
                             cases[i].status[role]);
    }
    assert_int_equal(http_auth_check_token(auth, VIEWER, ROLE_VIEWER), 0);
    assert_string_equal(http_auth_name(auth, OPERATOR), "ann@example");
    assert_null(http_auth_name(auth, VIEWER));
    assert_null(http_auth_name(auth, "operator-of-nobody"));
    assert_null(http_auth_name(auth, NULL));
    assert_int_equal(http_auth_check_token(auth, NULL, ROLE_VIEWER), 401);
    http_auth_destroy(auth);
}

TEST(refuses_bad_files)
{
    char longest[600];

    refused("viewer " VIEWER "\n", 0644, "chmod 600");
    refused("viewer " VIEWER "\n", 0604, "chmod 600");
    refused("viewer " VIEWER "\n", 0620, "chmod 600");
    refused("", 0600, "no token");
    refused("# only this\n", 0600, "no token");
    refused("viewer secret-short\n", 0600, "line 1");
    refused("ok-token-0123456789\nadmin secret-0123456789\n", 0600, "line 2");
    refused("viewer secret-0123456789 one more\n", 0600, "expected ROLE TOKEN [NAME]");
    refused("viewer secret-0123456789 a/b\n", 0600, "line 1: NAME may have at most 64");
    refused("viewer secret-\x01-0123456789\n", 0600, "visible");
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    refused(longest, 0600, "too long");
    longest[256] = '\0';
    refused(longest, 0600, "16 to 255");
}

TEST(accepts_a_group_readable_file)
{
    struct error err = {ERROR_NONE, ""};
    struct http_auth *auth = load("viewer " VIEWER "\n", 0440, &err);

    assert_non_null(auth);
    http_auth_destroy(auth);
}

TEST(refuses_what_is_no_file)
{
    struct error err;

    assert_null(http_auth_load("/nonexistent/tokens", &err));
    assert_non_null(strstr(err.text, "cannot open token file"));
    assert_null(http_auth_load("/tmp", &err));
    assert_non_null(strstr(err.text, "regular file"));
    http_auth_destroy(NULL);
}

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

GROUP_FIXTURE(make_file, remove_file);
