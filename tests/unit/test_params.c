/* SPDX-License-Identifier: Apache-2.0 */
/* test_params.c - parameters by the table of their route, of requests without a server */
#include <stdarg.h>

#include "server/api/params.h"
#include "tests/unit/test.h"

struct http_request {
    const char *query[8][2]; /* name and value */
    int status;              /* of the problem; 0: none */
    char detail[1024];
};

const char *http_request_query(const struct http_request *request, const char *name)
{
    for (size_t i = 0; request->query[i][0]; i++)
        if (strcmp(request->query[i][0], name) == 0)
            return request->query[i][1];
    return NULL;
}

void http_request_query_each(const struct http_request *request, const char *name,
                             void (*each)(void *arg, const char *value), void *arg)
{
    for (size_t i = 0; request->query[i][0]; i++)
        if (strcmp(request->query[i][0], name) == 0)
            each(arg, request->query[i][1]);
}

const char *http_request_body(const struct http_request *request, size_t *len)
{
    (void)request;
    *len = 0;
    return "";
}

int http_request_accepts(const struct http_request *request, const char *const *types)
{
    (void)request, (void)types;
    return 0;
}

void http_reply_text(struct http_request *request, int status, const char *content_type,
                     const char *text, size_t len)
{
    (void)request, (void)status, (void)content_type, (void)text, (void)len;
}

void http_reply_problem(struct http_request *request, int status,
                        const struct problems *problems, const char *format, ...)
{
    va_list args;

    (void)problems;
    request->status = status;
    va_start(args, format);
    vsnprintf(request->detail, sizeof(request->detail), format, args);
    va_end(args);
}

struct values {
    int64_t count, page, since_ms;
    double share;
    bool is_on;
    int colour;
    const char *text, *line;
    struct param_texts labels;
    const struct params_format *format;
};

#define AT(member) .offset = offsetof(struct values, member)

static const char *const colours[] = {"red", "green", NULL};
static const struct param table[] = {
    {"count", NULL, PARAM_INTEGER, AT(count), .min = 1, .max = 9, .usual = "5"},
    {"page", NULL, PARAM_INTEGER, AT(page), .max = INT64_MAX, .absent = -1},
    {"since", NULL, PARAM_TIME, AT(since_ms)},
    {"share", NULL, PARAM_REAL, AT(share), .least = 0.5, .most = 2},
    {"on", NULL, PARAM_FLAG, AT(is_on), .usual = "1"},
    {"colour", NULL, PARAM_CHOICE, AT(colour), .choices = colours, .usual = "green"},
    {"text", NULL, PARAM_TEXT, AT(text)},
    {"line", NULL, PARAM_LINE, AT(line), .max = 3},
    {"label", NULL, PARAM_LABELS, AT(labels), .max = 2},
};
static const struct params_format formats[] = {
    {"json", "application/json", 0}, {"csv", "text/csv", 1}, {NULL, NULL, 0}};
static const struct route_params route = {.formats = formats,
                                          .format_offset =
                                              offsetof(struct values, format),
                                          .list = table,
                                          .n = sizeof(table) / sizeof(table[0])};

TEST(what_is_absent_is_as_the_table_says)
{
    struct http_request request = {.query = {{"line", "abc"}}};
    struct values values;

    assert_true(params_read(&request, &route, &values));
    assert_int_equal(values.count, 5);
    assert_int_equal(values.page, -1);
    assert_int_equal(values.since_ms, 0);
    assert_true(values.share == 0);
    assert_true(values.is_on);
    assert_int_equal(values.colour, 1);
    assert_null(values.text);
    assert_int_equal(values.labels.n, 0);
    assert_string_equal(values.format->name, "json");
}

TEST(what_is_given_is_read)
{
    struct http_request request = {.query = {{"count", "9"},
                                             {"since", "1970-01-01T00:00:01.500Z"},
                                             {"share", "0.5"},
                                             {"on", "false"},
                                             {"colour", "red"},
                                             {"line", "abc"},
                                             {"format", "csv"}}};
    struct values values;

    assert_true(params_read(&request, &route, &values));
    assert_int_equal(values.count, 9);
    assert_int_equal(values.since_ms, 1500);
    assert_true(values.share == 0.5);
    assert_false(values.is_on);
    assert_int_equal(values.colour, 0);
    assert_int_equal(values.format->value, 1);
}

TEST(texts_that_repeat_are_all_there)
{
    struct http_request request = {
        .query = {{"line", "x"}, {"label", "a=1"}, {"text", ""}, {"label", "b="}}};
    struct values values;

    assert_true(params_read(&request, &route, &values));
    assert_int_equal(values.labels.n, 2);
    assert_string_equal(values.labels.at[0], "a=1");
    assert_string_equal(values.labels.at[1], "b=");
    assert_string_equal(values.text, "");
}

TEST(what_is_wrong_is_named_with_what_would_be_right)
{
    static const struct {
        const char *name, *value;
        int status;
        const char *detail;
    } bad[] = {
        {"count", "10", 400, "a whole number from 1 to 9"},
        {"count", " 1", 400, "a whole number from 1 to 9"},
        {"share", "2.5", 400, "a number from 0.5 to 2"},
        {"share", "1x", 400, "a number from 0.5 to 2"},
        {"on", "yes", 400, "0 or 1"},
        {"colour", "blue", 422, "one of red, green, not blue"},
        {"line", "abcd", 422, "a text of 1 to 3 bytes"},
        {"line", "a\nb", 422, "a text of 1 to 3 bytes"},
        {"line", "", 422, "a text of 1 to 3 bytes"},
        {"since", "1970-01-01T00:00:01", 422, "a time in UTC such as"},
        {"label", "=1", 422, "KEY=VALUE, not =1"},
        {"format", "xml", 422, "one of json, csv"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct http_request request = {
            .query = {{bad[i].name, bad[i].value}, {"line", "abc"}}};
        struct values values;

        assert_false(params_read(&request, &route, &values));
        assert_int_equal(request.status, bad[i].status);
        if (!strstr(request.detail, bad[i].name) ||
            !strstr(request.detail, bad[i].detail))
            fail_msg("%s=%s: %s", bad[i].name, bad[i].value, request.detail);
    }
}

TEST(a_label_too_many_is_refused)
{
    struct http_request request = {
        .query = {{"line", "x"}, {"label", "a=1"}, {"label", "b=2"}, {"label", "c=3"}}};
    struct values values;

    assert_false(params_read(&request, &route, &values));
    assert_int_equal(request.status, 422);
    assert_non_null(strstr(request.detail, "label must be given at most 2 times"));
}
