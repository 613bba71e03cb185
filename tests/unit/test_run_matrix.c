/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_matrix.c - the cases that a run's matrix makes, and their order */
#include "common/base/json_util.h"
#include "common/spec/run_matrix.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

/* "REPEAT:A,B ..." of all cases; an unset variable is "-". */
static void describe(const struct run_spec *spec, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < run_matrix_cases(spec); i++) {
        json_t *env = run_matrix_env(spec, i);

        n += (size_t)snprintf(out + n, size - n, "%s%d:%s%s%s", n ? " " : "",
                              run_matrix_repeat(spec, i),
                              json_get_str(env, "NCCL_ALGO", "-"),
                              json_object_get(env, "NCCL_PROTO") ? "," : "",
                              json_get_str(env, "NCCL_PROTO", ""));
        json_decref(env);
    }
}

TEST(test_makes_cases_in_order)
{
    static const struct {
        const char *spec, *cases;
    } rows[] = {
        {"{}", "0:-"},
        {"{\"repeats\": 3}", "0:- 1:- 2:-"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"Ring\", null]}}", "0:Ring 0:-"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\", \"B\"]}, \"repeats\": 3}",
         "0:A 0:B 1:B 1:A 2:A 2:B"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\", \"B\"]}, \"repeats\": 2,"
         " \"order\": \"sequential\"}",
         "0:A 1:A 0:B 1:B"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\", \"B\"], \"NCCL_PROTO\": [\"x\", \"y\"]}}",
         "0:A,x 0:A,y 0:B,x 0:B,y"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_spec *spec = spec_of(rows[i].spec);
        char text[400];

        describe(spec, text, sizeof(text));
        assert_string_equal(text, rows[i].cases);
        run_spec_destroy(spec);
    }
}

TEST(test_names_what_a_backend_does_not_read)
{
    static const struct {
        const char *keys, *backend, *unread;
    } rows[] = {
        {"\"NCCL_ALGO\": [\"Ring\", null], \"UCX_TLS\": [\"tcp\"]", "host", "NCCL_ALGO"},
        {"\"NCCL_ALGO\": [\"Ring\"], \"NCCL_PROTO\": [\"LL\"]", "host",
         "NCCL_ALGO, NCCL_PROTO"},
        {"\"nccl_lib\": [\"/a.so\", null]", "host", "nccl_lib"},
        {"\"SIM_SLOW\": [\"*:0.5\", null]", "host", "SIM_SLOW"},
        {"\"NCCL_ALGO\": [\"Ring\"], \"SIM_SLOW\": [\"*:0.5\"]", "sim", ""},
        {"\"NCCL_ALGO\": [\"Ring\"], \"NCCL_PROTO\": [\"LL\"]", "sim", "NCCL_PROTO"},
        {"\"NCCL_ALGO\": [\"Ring\"], \"nccl_lib\": [\"/a.so\"]", "nccl", ""},
        {"\"NCCL_ALGO\": [\"Ring\"], \"OMP_NUM_THREADS\": [\"1\"]", "program", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];

        snprintf(text, sizeof(text), "{\"matrix\": {%s}}", rows[i].keys);
        struct run_spec *spec = spec_of(text);
        assert_string_equal(run_matrix_unread(spec, rows[i].backend, text, sizeof(text)),
                            rows[i].unread);
        run_spec_destroy(spec);
    }
}

TEST(test_refuses)
{
    static const char *const rows[][2] = {
        {"{\"matrix\": []}", "/matrix"},
        {"{\"matrix\": {\"LD_PRELOAD\": [\"x\"]}}", "/matrix/LD_PRELOAD"},
        {"{\"matrix\": {\"NCCL_ALGO\": []}}", "/matrix/NCCL_ALGO"},
        {"{\"matrix\": {\"NCCL_ALGO\": \"Ring\"}}", "/matrix/NCCL_ALGO"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\", 1]}}", "/matrix/NCCL_ALGO/1"},
        {"{\"matrix\": {\"NCCL_ALGO\": [null, \"A\", null]}}", "/matrix/NCCL_ALGO/2"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\"]}, \"env\": {\"NCCL_ALGO\": \"B\"}}",
         "/matrix/NCCL_ALGO"},
        {"{\"matrix\": {\"NCCL_ALGO\": [\"A\", \"B\"]}, \"repeats\": 501}", "/matrix"},
        {"{\"order\": \"random\"}", "/order"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct problems problems;

        assert_null(spec_parse(rows[i][0], &problems));
        assert_int_equal(problems.count, 1);
        assert_string_equal(
            json_get_str(json_array_get(problems.errors, 0), "pointer", ""), rows[i][1]);
        problems_release(&problems);
    }
}

TEST(test_reads_back)
{
    struct run_spec *spec, *again;
    json_t *first, *second;
    char *text;

    spec = spec_of(
        "{\"matrix\": {\"NCCL_ALGO\": [\"A\", null]}, \"order\": \"sequential\"}");
    first = run_spec_to_json(spec);
    text = json_dumps(first, 0);
    again = spec_of(text);
    second = run_spec_to_json(again);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
    free(text);
    run_spec_destroy(spec);
    run_spec_destroy(again);
}
