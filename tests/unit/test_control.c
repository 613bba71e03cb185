/* test_control.c - the control series: what a run can ask, and what figures are made of
 */
#include "agent/worker/bench/case_file.h"
#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

#define ALL 7u

TEST(names_read_back)
{
    for (int kind = 0; kind < CONTROL_COUNT; kind++) {
        assert_int_equal(control_lookup(control_name((enum control_kind)kind)), kind);
        assert_non_null(control_figure((enum control_kind)kind, 0));
        assert_null(control_figure((enum control_kind)kind, CONTROL_FIGURES_MAX));
    }
    assert_int_equal(control_lookup("ring"), -1);
}

TEST(a_run_chooses_in_several_ways)
{
    static const struct {
        const char *body;
        unsigned kinds;
        size_t figures;
    } table[] = {
        {"{}", 0, 0},
        {"{\"control\":false}", 0, 0},
        {"{\"control\":true}", ALL, 7},
        {"{\"control\":{}}", ALL, 7},
        {"{\"control\":[\"chunks\",\"barrier\"],\"collectives\":[]}", 5, 4},
        {"{\"control\":{\"series\":[\"gather_object\"],\"bytes\":\"1M\",\"pieces\":3}}",
         2, 3},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct run_spec *spec = spec_of(table[i].body);

        assert_int_equal(spec->control.kinds, table[i].kinds);
        assert_int_equal(control_figures(&spec->control), table[i].figures);
        run_spec_destroy(spec);
    }
}

TEST(the_effective_spec_reads_back)
{
    struct run_spec *spec = spec_of(
        "{\"collectives\":[],\"control\":{\"bytes\":\"64K\",\"object_bytes\":9}}");
    json_t *effective = run_spec_to_json(spec), *again;
    struct problems problems;
    struct run_spec *second;

    problems_init(&problems);
    second = run_spec_parse(effective, &problems);
    assert_non_null(second);
    assert_int_equal(second->control.bytes, 65536);
    assert_int_equal(second->control.object_bytes, 9);
    again = run_spec_to_json(second);
    assert_true(json_equal(effective, again));
    problems_release(&problems);
    json_decref(again);
    json_decref(effective);
    run_spec_destroy(second);
    run_spec_destroy(spec);
}

TEST(what_is_wrong_has_its_pointer)
{
    static const struct {
        const char *body, *pointer;
    } table[] = {
        {"{\"control\":1}", "/control"},
        {"{\"control\":[]}", "/control"},
        {"{\"control\":[\"ring\"]}", "/control/0"},
        {"{\"control\":[\"barrier\",\"barrier\"]}", "/control/1"},
        {"{\"control\":{\"series\":[]}}", "/control/series"},
        {"{\"control\":{\"bytes\":0}}", "/control/bytes"},
        {"{\"control\":{\"bytes\":399,\"pieces\":100}}", "/control/pieces"},
        {"{\"control\":{\"pieces\":100001}}", "/control/pieces"},
        {"{\"control\":{\"object_bytes\":0}}", "/control/object_bytes"},
        {"{\"control\":{\"iters\":1.5}}", "/control/iters"},
        {"{\"control\":{\"size\":8}}", "/control/size"},
        {"{\"collectives\":[]}", "/collectives"},
        {"{\"control\":true,\"split\":\"node\"}", "/control"},
        {"{\"collectives\":[],\"control\":false}", "/collectives"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        json_t *body = json_of(table[i].body);
        struct problems problems;

        problems_init(&problems);
        assert_null(run_spec_parse(body, &problems));
        assert_int_equal(problems.count, 1);
        assert_string_equal(
            json_get_str(json_array_get(problems.errors, 0), "pointer", ""),
            table[i].pointer);
        problems_release(&problems);
        json_decref(body);
    }
}

/* The case file of a run, with what the scheduler adds. */
static json_t *case_of(const char *body)
{
    struct run_spec *spec = spec_of(body);
    json_t *file = run_spec_case_json(spec);

    assert_non_null(file);
    json_object_set_new(file, "run", json_string("r"));
    json_object_set_new(file, "case", json_integer(0));
    json_object_set_new(file, "attempt", json_integer(1));
    json_object_set_new(file, "world_size", json_integer(3));
    run_spec_destroy(spec);
    return file;
}

TEST(a_worker_reads_what_the_run_asked)
{
    json_t *json = case_of("{\"collectives\":[],\"control\":{\"series\":[\"chunks\"],"
                           "\"bytes\":1000,\"pieces\":7}}");
    struct case_file *file = case_file_parse(json, false, NULL);

    assert_non_null(file);
    assert_int_equal(file->plan.n_collectives, 0);
    assert_int_equal(file->spec->control.kinds, 4);
    /* 250 elements in 7 equal pieces: 35 each. */
    assert_int_equal(control_chunk_bytes(&file->spec->control), 980);
    assert_int_equal(control_bytes_most(&file->spec->control, 3, 4096), 980);
    assert_int_equal(control_bytes_most(&file->spec->control, 3, 979), 0);
    case_file_destroy(file);
    json_decref(json);
}

TEST(a_worker_refuses_what_no_run_can_ask)
{
    static const struct {
        const char *key;
        const char *control, *names;
    } table[] = {
        {"series", "[]", "/control/series array"},
        {"series", "[\"ring\"]", "/control/series/0"},
        {"bytes", "0", "/control/bytes size"},
        {"pieces", "\"7\"", "/control/pieces integer 1"},
        {"pieces", "100000", "less than 4 bytes for each"},
        {"iters", "100001", "/control/iters 1 100001"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        json_t *json = case_of("{\"control\":{\"bytes\":1000,\"pieces\":7}}");
        json_t *value = json_loads(table[i].control, JSON_DECODE_ANY, NULL);
        struct error err = {0};

        json_object_set_new(json_object_get(json, "control"), table[i].key, value);
        assert_null(case_file_parse(json, false, &err));
        assert_int_equal(err.code, ERROR_INVALID);
        assert_mentions(err.text, table[i].names);
        json_decref(json);
    }
    json_t *json = case_of("{\"control\":true}");
    json_object_del(json, "control");
    json_object_set_new(json, "collectives", json_array());
    assert_null(case_file_parse(json, false, NULL));
    json_decref(json);
}

TEST(memory_is_that_of_the_largest_that_fits)
{
    json_t *json = case_of("{\"control\":{\"bytes\":\"1M\",\"pieces\":1}}");
    struct case_file *file = case_file_parse(json, false, NULL);

    assert_int_equal(control_bytes_most(&file->spec->control, 3, UINT64_MAX), 1 << 20);
    uint64_t objects = control_bytes(&file->spec->control, CONTROL_GATHER_OBJECT, 3);
    assert_int_equal(control_bytes_most(&file->spec->control, 3, (1 << 20) - 1), objects);
    assert_true(control_bytes_most(&file->spec->control, 3, objects - 1) < objects);
    assert_int_equal(control_bytes_most(&file->spec->control, 3, 0), 0);
    case_file_destroy(file);
    json_decref(json);
}
