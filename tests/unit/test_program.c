/* SPDX-License-Identifier: Apache-2.0 */
/* test_program.c - files of programs.d, and the argument vectors made from them */
#include "agent/process/program.h"
#include "common/base/json_util.h"
#include "common/spec/command_template.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

TEST(test_substitutes)
{
    static const struct {
        const char *template, *text; /* NULL: refused */
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"{n}", "3"},
        {"--n={n}", "--n=3"},
        {"{n}{s}{n}", "3; rm -rf \"$HOME\" {n}3"}, /* a value is never looked into */
        {"{{n}}", "{n}"},
        {"{{{n}}}", "{3}"},
        {"{config_dir}/x", "/etc/rb/x"},
        {"{missing}", NULL},
        {"{n", NULL},
        {"n}", NULL},
        {"{}", NULL},
        {"{ n}", NULL},
        {"{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "}",
         NULL},
    };
    json_t *values = json_of("{\"n\": 3, \"s\": \"; rm -rf \\\"$HOME\\\" {n}\"}");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct error err = {ERROR_NONE, ""};
        char *text = command_template_fill(cases[i].template, values, "/etc/rb", &err);

        if (cases[i].text) {
            assert_non_null(text);
            assert_string_equal(text, cases[i].text);
        } else {
            assert_null(text);
            assert_int_not_equal(err.code, ERROR_NONE);
        }
        free(text);
    }
    json_decref(values);
}

TEST(test_refuses_bad_files)
{
    static const struct {
        const char *text, *pointer;
    } cases[] = {
        {"[]", ""},
        {"{}", "/argv"},
        {"{\"argv\": []}", "/argv"},
        {"{\"argv\": [1]}", "/argv/0"},
        {"{\"argv\": [\"/nowhere\"]}", "/argv/0"},
        {"{\"argv\": [\"no-such-program-anywhere\"]}", "/argv/0"},
        {"{\"argv\": [\"./true\"]}", "/argv/0"},
        {"{\"argv\": [\"{p}\"], \"parameters\": {\"p\": {\"type\": \"enum\", "
         "\"values\": [\"true\"]}}}",
         "/argv/0"},
        {"{\"argv\": [\"true\", \"{q}\"]}", "/argv/1"},
        {"{\"argv\": [\"true\"], \"cwd\": \"relative\"}", "/cwd"},
        {"{\"argv\": [\"true\"], \"cwd\": \"/nowhere\"}", "/cwd"},
        {"{\"argv\": [\"true\"], \"cwd\": 1}", "/cwd"},
        {"{\"argv\": [\"true\"], \"env\": {\"A=B\": \"x\"}}", "/env/A=B"},
        {"{\"argv\": [\"true\"], \"env\": {\"A\": 1}}", "/env/A"},
        {"{\"argv\": [\"true\"], \"env\": []}", "/env"},
        {"{\"argv\": [\"true\"], \"ranks_per_node\": 0}", "/ranks_per_node"},
        {"{\"argv\": [\"true\"], \"ranks_per_node\": \"some\"}", "/ranks_per_node"},
        {"{\"argv\": [\"true\"], \"timeout_s\": 0}", "/timeout_s"},
        {"{\"argv\": [\"true\"], \"metrics\": 1}", "/metrics"},
        {"{\"argv\": [\"true\"], \"description\": 1}", "/description"},
        {"{\"argv\": [\"true\"], \"command\": \"x\"}", "/command"},
        {"{\"argv\": [\"true\"], \"parameters\": []}", "/parameters"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *file = json_of(cases[i].text);
        struct problems problems;

        problems_init(&problems);
        assert_null(program_parse("p", file, "/etc/rb", &problems));
        assert_string_equal(
            json_get_str(json_array_get(problems.errors, 0), "pointer", "?"),
            cases[i].pointer);
        problems_release(&problems);
        json_decref(file);
    }
}

static struct program *make(const char *text)
{
    json_t *file = json_of(text);
    struct problems problems;
    struct program *program;

    problems_init(&problems);
    program = program_parse("p", file, "/tmp", &problems);
    if (!program)
        fail_msg("%s", json_get_str(json_array_get(problems.errors, 0), "detail", ""));
    problems_release(&problems);
    json_decref(file);
    return program;
}

TEST(test_makes_arguments)
{
    struct program *program =
        make("{\"argv\": [\"true\", \"--n={n}\", \"{s}\"], \"cwd\": \"{config_dir}\","
             " \"parameters\": {\"n\": {\"type\": \"integer\", \"min\": 0, \"max\": 9,"
             " \"default\": 4}, \"s\": {\"type\": \"string\", \"pattern\": \".*\"}}}");
    json_t *args = json_of("{\"s\": \"a b;c\"}");
    struct error err;
    char **argv = program_argv(program, args, &err);

    assert_string_equal(program->cwd, "/tmp");
    assert_non_null(strstr(program->path, "/true"));
    assert_non_null(argv);
    assert_string_equal(argv[0], "true");
    assert_string_equal(argv[1], "--n=4");
    assert_string_equal(argv[2], "a b;c");
    assert_null(argv[3]);
    command_template_free(argv);
    assert_null(program_argv(program, NULL, &err));
    assert_non_null(strstr(err.text, "/program/args/s"));
    json_decref(args);
    program_destroy(program);
}

TEST(test_tells_no_argv)
{
    struct program *program =
        make("{\"argv\": [\"true\"], \"env\": {\"SECRET\": \"1\"}}");
    json_t *told = program_to_json(program);

    assert_null(json_object_get(told, "argv"));
    assert_null(json_object_get(told, "env"));
    assert_int_equal(json_get_int(told, "ranks_per_node", 0), 1);
    assert_true(json_is_null(json_object_get(told, "timeout_s")));
    json_decref(told);
    program_destroy(program);
}
