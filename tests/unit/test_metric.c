/* SPDX-License-Identifier: Apache-2.0 */
/* test_metric.c - figures found in a program's output */
#include "agent/case/metric.h"
#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

static const char declared[] =
    "[{\"name\": \"speed\", \"unit\": \"1/s\", \"higher_is_better\": true,"
    "  \"regex\": \"speed ([^ ]+)\"},"
    " {\"name\": \"loss\", \"unit\": \"\", \"higher_is_better\": false,"
    "  \"regex\": \"loss=([-+0-9.e]*)\", \"stream\": \"stderr\"},"
    " {\"name\": \"bw\", \"unit\": \"GB/s\", \"higher_is_better\": true,"
    "  \"json\": \"busbw\", \"labels\": [\"size\", \"op\"]}]";

static struct metric_set *parse_set(const char *text, struct problems *problems)
{
    struct error err;
    json_t *array = json_parse(text, strlen(text), &err);
    struct metric_set *set;

    if (!array)
        fail_msg("%s: %s", err.text, text);
    set = metric_set_parse(array, "/metrics", problems);
    json_decref(array);
    return set;
}

static struct metric_set *declared_set(void)
{
    struct problems problems;
    struct metric_set *set;

    problems_init(&problems);
    set = parse_set(declared, &problems);
    assert_non_null(set);
    problems_release(&problems);
    return set;
}

static void note(void *arg, const struct metric *metric, double value, json_t *labels)
{
    char *text = labels ? json_dumps(labels, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

    buf_printf(arg, "%s=%g%s%s;", metric->name, value, text ? " " : "", text ? text : "");
    free(text);
}

static void note_given_up(void *arg, const struct metric *metric)
{
    buf_printf(arg, "%s gave up;", metric->name);
}

static void look(const struct metric_set *set, enum metric_stream stream,
                 const char *line, size_t len, struct buf *found)
{
    const struct metric_handlers handlers = {note, note_given_up, found};

    metric_set_line(set, stream, line, len, &handlers);
}

TEST(test_finds_figures)
{
    static const struct {
        enum metric_stream stream;
        const char *line, *found;
    } cases[] = {
        {METRIC_STDOUT, "step 3 speed 12.5 per second", "speed=12.5;"},
        {METRIC_STDERR, "speed 1e3", "speed=1000;"},
        {METRIC_STDOUT, "speed 12x", ""},
        {METRIC_STDOUT, "speed nan", "speed=nan;"},
        {METRIC_STDOUT, "speed inf", "speed=inf;"},
        {METRIC_STDOUT, "speed 1e999", "speed=inf;"},
        {METRIC_STDOUT, "spee 12", ""},
        {METRIC_STDOUT, "", ""},
        {METRIC_STDOUT, "loss=3", ""},
        {METRIC_STDERR, "loss=-3e-2", "loss=-0.03;"},
        {METRIC_STDERR, "loss=", ""},
        {METRIC_STDOUT, "{\"busbw\": 4}", "bw=4 {};"},
        {METRIC_STDERR, "{\"busbw\": 4}", ""},
        {METRIC_STDOUT, "  {\"busbw\": 4.5, \"size\": 8, \"op\": \"sum\", \"x\": 1}",
         "bw=4.5 {\"op\":\"sum\",\"size\":8};"},
        {METRIC_STDOUT, "{\"busbw\": \"4\"}", ""},
        {METRIC_STDOUT, "{\"busbw\": 4", ""},
        {METRIC_STDOUT, "[{\"busbw\": 4}]", ""},
        {METRIC_STDOUT, "{\"busbw\": null}", "bw=nan {};"},
        {METRIC_STDOUT, "{\"busbw\": NaN, \"size\": 8}", "bw=nan {\"size\":8};"},
        {METRIC_STDOUT, "{\"a\": \"NaN \\\" NaN\", \"busbw\": -Infinity}", "bw=nan {};"},
        {METRIC_STDOUT, "{\"busbw\": NaN", ""},
        {METRIC_STDOUT, "{\"busbw\": Nan}", ""},
        {METRIC_STDOUT, "{\"busbw\": 4, \"size\": [1]}", "bw=4 {};"},
        {METRIC_STDOUT, "{\"note\": \"speed 7 \", \"busbw\": 2}", "bw=2 {};speed=7;"},
    };
    struct metric_set *set = declared_set();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf found;

        buf_init(&found, 4096);
        look(set, cases[i].stream, cases[i].line, strlen(cases[i].line), &found);
        assert_string_equal(found.data ? found.data : "", cases[i].found);
        buf_release(&found);
    }
    metric_set_destroy(set);
}

/* Text without its end, into the middle of a line. */
static void put(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
}

TEST(test_survives_any_line)
{
    static const char zeros[] = "speed 1\0speed 2";
    struct metric_set *set = declared_set();
    char *big = malloc(100000);
    struct buf found;

    assert_non_null(big);
    buf_init(&found, 4096);
    look(set, METRIC_STDOUT, zeros, sizeof(zeros) - 1, &found);
    assert_string_equal(found.data, "speed=1;");
    memset(big, 'x', 100000);
    put(big + 100, "speed 5 ");
    put(big + 90000, "speed 6 ");
    look(set, METRIC_STDOUT, big, 100000, &found);
    assert_string_equal(found.data, "speed=1;speed=5;");
    memset(big, '{', 100000);
    look(set, METRIC_STDOUT, big, 100000, &found);
    buf_release(&found);
    free(big);
    metric_set_destroy(set);
}

TEST(test_says_when_it_gives_up)
{
    static const char text[] =
        "[{\"name\": \"slow\", \"unit\": \"s\", \"higher_is_better\": true,"
        "  \"regex\": \"([^x]*)([0-9])\"},"
        " {\"name\": \"quick\", \"unit\": \"s\", \"higher_is_better\": true,"
        "  \"regex\": \"^a(a*)\"}]";
    struct problems problems;
    struct metric_set *set;
    char line[4096];
    struct buf found;

    problems_init(&problems);
    set = parse_set(text, &problems);
    assert_non_null(set);
    buf_init(&found, 4096);
    memset(line, 'a', sizeof(line));
    look(set, METRIC_STDOUT, line, sizeof(line), &found);
    assert_string_equal(found.data, "slow gave up;");
    buf_release(&found);
    metric_set_destroy(set);
    problems_release(&problems);
}

TEST(test_refuses_bad_declarations)
{
#define START "[{\"name\": \"m\", \"unit\": \"s\", \"higher_is_better\": true"
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"{}", "/metrics"},
        {"[1]", "/metrics/0"},
        {START "}]", "/metrics/0"},
        {START ", \"regex\": \"(a)\", \"json\": \"a\"}]", "/metrics/0"},
        {START ", \"regex\": \"a\"}]", "/metrics/0/regex"},
        {START ", \"regex\": \"(\"}]", "/metrics/0/regex"},
        {START ", \"regex\": 1}]", "/metrics/0/regex"},
        {START ", \"json\": 1}]", "/metrics/0/json"},
        {START ", \"json\": \"a\", \"stream\": \"fd3\"}]", "/metrics/0/stream"},
        {START ", \"json\": \"a\", \"labels\": [1]}]", "/metrics/0/labels"},
        {START ", \"regex\": \"(a)\", \"labels\": [\"a\"]}]", "/metrics/0/labels"},
        {START ", \"json\": \"a\", \"group\": 1}]", "/metrics/0/group"},
        {START ", \"json\": \"a\"}, {\"name\": \"m\", \"unit\": \"s\", "
               "\"higher_is_better\": true, \"json\": \"b\"}]",
         "/metrics/1/name"},
        {"[{\"name\": \"m\", \"unit\": \"s\", \"json\": \"a\"}]",
         "/metrics/0/higher_is_better"},
        {"[{\"name\": \"m\", \"higher_is_better\": true, \"json\": \"a\"}]",
         "/metrics/0/unit"},
        {"[{\"name\": \"m m\", \"unit\": \"\", \"higher_is_better\": true, "
         "\"json\": \"a\"}]",
         "/metrics/0/name"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct problems problems;

        problems_init(&problems);
        assert_null(parse_set(cases[i].text, &problems));
        assert_string_equal(
            json_get_str(json_array_get(problems.errors, 0), "pointer", ""),
            cases[i].pointer);
        problems_release(&problems);
    }
}

TEST(test_tells_names_only)
{
    struct metric_set *set = declared_set();
    json_t *told = metric_set_json(set);

    assert_int_equal(json_array_size(told), 3);
    assert_int_equal(json_object_size(json_array_get(told, 0)), 3);
    assert_string_equal(json_get_str(json_array_get(told, 2), "unit", ""), "GB/s");
    json_decref(told);
    metric_set_destroy(set);
}
