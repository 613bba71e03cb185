/* SPDX-License-Identifier: Apache-2.0 */
/* test_program_schema.c - parameters of programs: their declaration and arguments */
#include "common/base/json_util.h"
#include "common/spec/program_schema.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

static void assert_first(const struct problems *problems, const char *pointer,
                         const char *part)
{
    const json_t *first = json_array_get(problems->errors, 0);

    assert_int_equal(problems->count, 1);
    assert_string_equal(json_get_str(first, "pointer", ""), pointer);
    if (!strstr(json_get_str(first, "detail", ""), part))
        fail_msg("'%s' not in: %s", part, json_get_str(first, "detail", ""));
}

TEST(test_refuses_bad_declarations)
{
    static const struct {
        const char *text, *pointer, *part;
    } cases[] = {
        {"[]", "/parameters", "must be an object"},
        {"{\"a\": 1}", "/parameters/a", "must be an object"},
        {"{\"a\": {}}", "/parameters/a/type", "one of"},
        {"{\"a\": {\"type\": \"path\"}}", "/parameters/a/type", "one of"},
        {"{\"1\": {\"type\": \"boolean\"}}", "/parameters/1",
         "not a valid parameter name"},
        {"{\"config_dir\": {\"type\": \"boolean\"}}", "/parameters/config_dir",
         "not a valid parameter name"},
        {"{\"a/b\": {\"type\": \"boolean\"}}", "/parameters/a~1b",
         "not a valid parameter name"},
        {"{\"a\": {\"type\": \"string\"}}", "/parameters/a/pattern", "must be"},
        {"{\"a\": {\"type\": \"string\", \"pattern\": \"[\"}}", "/parameters/a/pattern",
         "not a valid regular expression"},
        {"{\"a\": {\"type\": \"string\", \"pattern\": \"(a+)+[bc]\", "
         "\"default\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}",
         "/parameters/a/default",
         "takes more than 50000 steps to match against (a+)+[bc]"},
        {"{\"a\": {\"type\": \"string\", \"pattern\": \"x\", \"max_length\": 4097}}",
         "/parameters/a/max_length", "4096"},
        {"{\"a\": {\"type\": \"string\", \"pattern\": \"x\", \"may_begin_with\": \"+\"}}",
         "/parameters/a/may_begin_with", "- and @"},
        {"{\"a\": {\"type\": \"string\", \"pattern\": \".*\", \"default\": \"-x\"}}",
         "/parameters/a/default", "must not begin with -"},
        {"{\"a\": {\"type\": \"integer\", \"min\": 1}}", "/parameters/a/max", "must be"},
        {"{\"a\": {\"type\": \"integer\", \"min\": 2, \"max\": 1}}", "/parameters/a/min",
         "above max"},
        {"{\"a\": {\"type\": \"enum\", \"values\": []}}", "/parameters/a/values", "1 to"},
        {"{\"a\": {\"type\": \"enum\", \"values\": [\"x\\n\"]}}", "/parameters/a/values",
         "1 to"},
        {"{\"a\": {\"type\": \"boolean\", \"min\": 1}}", "/parameters/a/min", "unknown"},
        {"{\"a\": {\"type\": \"boolean\", \"default\": 1}}", "/parameters/a/default",
         "true or false"},
        {"{\"a\": {\"type\": \"number\", \"min\": 0, \"max\": 1, \"default\": 1.5}}",
         "/parameters/a/default", "at most 1"},
        {"{\"a\": {\"type\": \"boolean\", \"description\": 1}}",
         "/parameters/a/description", "string"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *parameters = json_of(cases[i].text);
        struct problems problems;

        problems_init(&problems);
        program_schema_check(parameters, "/parameters", &problems);
        assert_first(&problems, cases[i].pointer, cases[i].part);
        problems_release(&problems);
        json_decref(parameters);
    }
}

static const char declared[] =
    "{\"n\": {\"type\": \"integer\", \"min\": -5, \"max\": 5, \"default\": 0},"
    " \"x\": {\"type\": \"number\", \"min\": 0.5, \"max\": 2, \"default\": 1},"
    " \"s\": {\"type\": \"string\", \"pattern\": \"a|bc+\", \"max_length\": 4,"
    "        \"default\": \"a\"},"
    " \"e\": {\"type\": \"enum\", \"values\": [\"one\", \"two\"], \"default\": \"two\"},"
    " \"b\": {\"type\": \"boolean\", \"default\": false}}";

TEST(test_fills_in_defaults)
{
    json_t *parameters = json_of(declared),
           *args = json_of("{\"n\": -5, \"s\": \"bcc\"}");
    json_t *expected = json_of("{\"n\": -5, \"x\": 1, \"s\": \"bcc\", \"e\": \"two\", "
                               "\"b\": false}");
    struct problems problems;
    json_t *values;

    problems_init(&problems);
    program_schema_check(parameters, "", &problems);
    assert_int_equal(problems.count, 0);
    values = program_schema_complete(parameters, args, "", &problems);
    assert_true(json_equal(values, expected));
    json_decref(values);
    values = program_schema_complete(parameters, NULL, "", &problems);
    assert_int_equal(json_object_size(values), 5);
    json_decref(values);
    problems_release(&problems);
    json_decref(expected);
    json_decref(args);
    json_decref(parameters);
}

TEST(test_refuses_bad_arguments)
{
    static const struct {
        const char *text, *pointer, *part;
    } cases[] = {
        {"[]", "/args", "object"},
        {"{\"n\": 6}", "/args/n", "at most 5, not 6"},
        {"{\"n\": -6}", "/args/n", "at least -5"},
        {"{\"n\": 1.0}", "/args/n", "integer"},
        {"{\"n\": \"1\"}", "/args/n", "integer, not a string"},
        {"{\"n\": null}", "/args/n", "integer, not null"},
        {"{\"x\": 0.25}", "/args/x", "at least 0.5"},
        {"{\"s\": \"b\"}", "/args/s", "match"},
        {"{\"s\": \"ac\"}", "/args/s", "match"}, /* the anchors hold both alternatives */
        {"{\"s\": \"bcccc\"}", "/args/s", "at most 4 bytes"},
        {"{\"s\": \"a\\n\"}", "/args/s", "U+000A"},
        {"{\"s\": 1}", "/args/s", "string"},
        {"{\"e\": \"three\"}", "/args/e", "one of one, two"},
        {"{\"b\": 0}", "/args/b", "true or false"},
        {"{\"q~\": 0}", "/args/q~0", "unknown parameter 'q~'"},
    };
    json_t *parameters = json_of(declared);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *args = json_of(cases[i].text);
        struct problems problems;

        problems_init(&problems);
        assert_null(program_schema_complete(parameters, args, "/args", &problems));
        assert_first(&problems, cases[i].pointer, cases[i].part);
        problems_release(&problems);
        json_decref(args);
    }
    json_decref(parameters);
}

TEST(test_keeps_text_from_being_an_option)
{
    static const struct {
        const char *allowed, *text;
        bool fits;
    } cases[] = {
        {"", "", true},      {"", "a-@", true},     {"", "-rf", false},
        {"", "-", false},    {"", "--", false},     {"", "@/etc/passwd", false},
        {"-", "-rf", true},  {"-", "@file", false}, {"@", "@file", true},
        {"@", "-rf", false}, {"-@", "-rf", true},   {"-@", "@file", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *parameters =
            json_pack("{s:{s:s, s:s, s:s}}", "a", "type", "string", "pattern", ".*",
                      "may_begin_with", cases[i].allowed);
        json_t *args = json_pack("{s:s}", "a", cases[i].text), *values;
        struct problems problems;

        problems_init(&problems);
        program_schema_check(parameters, "/parameters", &problems);
        assert_int_equal(problems.count, 0);
        values = program_schema_complete(parameters, args, "/args", &problems);
        assert_int_equal(values != NULL, cases[i].fits);
        if (!cases[i].fits)
            assert_first(&problems, "/args/a", "begin");
        problems_release(&problems);
        json_decref(values);
        json_decref(args);
        json_decref(parameters);
    }
}

/* A server hears declarations from agents of other versions. */
TEST(test_survives_strange_declarations)
{
    static const char *const texts[] = {"[]", "{\"a\": 1}",
                                        "{\"a\": {\"type\": \"new\"}}",
                                        "{\"a\": {\"type\": \"string\"}}"};
    json_t *args = json_of("{\"a\": \"x\"}");

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *parameters = json_of(texts[i]);
        struct problems problems;

        problems_init(&problems);
        assert_null(program_schema_complete(parameters, args, "", &problems));
        assert_true(problems.count > 0);
        problems_release(&problems);
        json_decref(parameters);
    }
    json_decref(args);
}

TEST(test_writes_values)
{
    static const char *const cases[][2] = {
        {"[7]", "7"},
        {"[-9007199254740993]", "-9007199254740993"},
        {"[0.1]", "0.1"},
        {"[1e300]", "1e+300"},
        {"[0.30000000000000004]", "0.30000000000000004"},
        {"[true]", "true"},
        {"[false]", "false"},
        {"[\"a b\"]", "a b"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *array = json_of(cases[i][0]);
        char *text = program_value_text(json_array_get(array, 0));

        assert_string_equal(text, cases[i][1]);
        free(text);
        json_decref(array);
    }
}

TEST(test_judges_names)
{
    assert_true(program_name_is_valid("torch-all_reduce.2"));
    assert_false(program_name_is_valid(""));
    assert_false(program_name_is_valid("2torch"));
    assert_false(program_name_is_valid("../torch"));
    assert_false(program_name_is_valid(".torch"));
    assert_false(program_name_is_valid("a/b"));
    assert_false(program_name_is_valid("a b"));
}
