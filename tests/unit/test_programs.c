/* SPDX-License-Identifier: Apache-2.0 */
/* test_programs.c - what nodes offer, whom a program's run gets, and what its figures add
 * up to */
#include "common/base/json_util.h"
#include "server/nodes/placement.h"
#include "server/nodes/programs.h"
#include "server/render/csv.h"
#include "server/render/table.h"
#include "server/runs/run.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

#define PROGRAM(name, ranks, most)                                                       \
    "{\"name\":\"" name "\",\"description\":\"\",\"ranks_per_node\":" ranks              \
    ",\"timeout_s\":null,\"metrics\":[],\"parameters\":{\"n\":{\"type\":\"integer\","    \
    "\"min\":0,\"max\":" most ",\"default\":1}}}"

/* 2 ranks each; g has 4 GPUs, none has no programs, odd says what nobody understands. */
static const char *const cluster[][2] = {
    {"a", "[" PROGRAM("p", "1", "5") "," PROGRAM("q", "\"all\"", "5") "]"},
    {"b", "[" PROGRAM("p", "1", "50") "]"},
    {"c", "[" PROGRAM("p", "3", "5") "]"},
    {"g", "[" PROGRAM("q", "\"all\"", "5") "]"},
    {"none", "[]"},
    {"odd", "[1, {\"name\": 2}, {\"name\": \"p\", \"parameters\": {\"n\": 7}}]"},
};

static const char gpus[] = "{\"available\":true,\"devices\":[{},{},{},{}]}";

static void add(struct node_registry *registry, const char *name, const char *programs)
{
    json_t *labels = json_object(), *backends = json_object();
    json_t *inventory = json_pack("{s:o, s:o}", "backends", backends, "programs",
                                  json_loads(programs, 0, NULL));
    struct node_registration from = {.name = name,
                                     .boot_id = "00000000-0000-4000-8000-000000000000",
                                     .peer = "127.0.0.1",
                                     .labels = labels,
                                     .inventory = inventory,
                                     .ranks = 2};
    struct clock_time now = {.monotonic_ns = 1};
    bool is_new;

    if (strcmp(name, "g") == 0)
        json_object_set_new(backends, "nccl", json_loads(gpus, 0, NULL));
    assert_non_null(node_register(registry, &from, now, &is_new));
    json_decref(labels);
    json_decref(inventory);
}

static int setup(void **state)
{
    struct node_registry *registry = calloc(1, sizeof(*registry));

    assert_non_null(registry);
    for (size_t i = 0; i < sizeof(cluster) / sizeof(cluster[0]); i++)
        add(registry, cluster[i][0], cluster[i][1]);
    *state = registry;
    return 0;
}

static int teardown(void **state)
{
    node_registry_release(*state);
    free(*state);
    return 0;
}

TEST_WITH(setup, teardown, places_programs_where_they_are_offered)
{
    static const struct {
        const char *spec, *nodes; /* "name:ranks ..." */
        const char *says;         /* where there are none */
    } cases[] = {
        {"{\"program\":{\"name\":\"p\"}}", "a:1 b:1 c:3", NULL},
        {"{\"program\":{\"name\":\"q\"}}", "a:2 g:4", NULL},
        {"{\"program\":{\"name\":\"p\",\"args\":{\"n\":20}}}", "b:1", NULL},
        {"{\"program\":{\"name\":\"p\"},\"ranks_per_node\":3}", "c:3", NULL},
        {"{\"program\":{\"name\":\"p\"},\"ranks_per_node\":2}", "a:2 b:2 c:2", NULL},
        {"{\"program\":{\"name\":\"q\"},\"ranks_per_node\":4}", "g:4", NULL},
        {"{\"program\":{\"name\":\"x\"},\"nodes\":{\"names\":[\"a\"]}}", "",
         "a: does not offer the program 'x'. Offered programs: p, q"},
        {"{\"program\":{\"name\":\"x\"},\"nodes\":{\"names\":[\"none\"]}}", "",
         "none: does not offer the program 'x'. Offered programs: none"},
        {"{\"program\":{\"name\":\"p\",\"args\":{\"n\":20}},"
         "\"nodes\":{\"names\":[\"a\"]}}",
         "", "a: /program/args/n must be at most 5, not 20"},
        {"{\"program\":{\"name\":\"p\"},\"nodes\":{\"names\":[\"odd\"]}}", "",
         "odd: /program/args/n"},
        {"{\"program\":{\"name\":\"p\"},\"ranks_per_node\":9,"
         "\"nodes\":{\"names\":[\"a\"]}}",
         "", "a: offers 2 ranks, 9 requested"},
    };
    struct reservation reserved[16] = {{.is_kept = false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run_spec *spec = spec_of(cases[i].spec);
        struct placement placement;
        char text[200] = "";

        placement_choose(spec, *state, reserved, &placement);
        for (size_t k = 0; placement.outcome == PLACEMENT_READY && k < placement.n_nodes;
             k++) {
            size_t n = strlen(text);

            snprintf(text + n, sizeof(text) - n, "%s%s:%ld", n ? " " : "",
                     placement.nodes[k]->name, placement.ranks[k]);
        }
        assert_string_equal(text, cases[i].nodes);
        if (!cases[i].says)
            assert_string_equal(placement.backend, "program");
        else if (!strstr(placement.reason, cases[i].says))
            fail_msg("'%s' not in: %s", cases[i].says, placement.reason);
        placement_release(&placement);
        run_spec_destroy(spec);
    }
}

TEST_WITH(setup, teardown, judges_arguments_when_they_are_posted)
{
    static const struct {
        const char *spec;
        size_t faults;
    } cases[] = {
        {"{\"program\":{\"name\":\"p\",\"args\":{\"n\":50}}}", 0}, /* b takes it */
        {"{\"program\":{\"name\":\"p\",\"args\":{\"n\":51}}}", 1},
        {"{\"program\":{\"name\":\"q\",\"args\":{\"n\":\"x\",\"m\":1}}}", 2},
        {"{\"program\":{\"name\":\"later\",\"args\":{\"m\":1}}}", 0}, /* may yet come */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run_spec *spec = spec_of(cases[i].spec);
        struct problems problems;

        problems_init(&problems);
        assert_int_equal(program_args_fit(*state, spec, &problems), !cases[i].faults);
        assert_int_equal(problems.count, cases[i].faults);
        problems_release(&problems);
        run_spec_destroy(spec);
    }
}

TEST_WITH(setup, teardown, lists_each_declaration_once)
{
    struct node_registry *registry = *state;
    json_t *list, *first;

    node_find(registry, "b")->state = NODE_LOST;
    add(registry, "d", cluster[0][1]);
    list = programs_json(registry);
    first = json_array_get(list, 0);
    /* p of a, p of c, p of odd, q of a: by name, those of a name as they came */
    assert_int_equal(json_array_size(list), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(json_get_str(json_array_get(list, i), "name", ""),
                            i < 3 ? "p" : "q");
    assert_string_equal(json_get_str(first, "name", ""), "p");
    assert_int_equal(json_array_size(json_object_get(first, "nodes")), 2);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(first, "nodes"), 1)), "d");
    json_decref(list);
}

TEST(spec_of_a_program_reads_back)
{
    struct run_spec *spec = spec_of("{\"program\":{\"name\":\"p\",\"args\":{\"n\":3}},"
                                    "\"repeats\":2,\"env\":{\"NCCL_ALGO\":\"Ring\"}}");
    json_t *first = run_spec_to_json(spec), *file = run_spec_case_json(spec), *second;
    char *text = json_dumps(first, 0);

    assert_null(json_object_get(first, "collectives"));
    assert_null(json_object_get(first, "backend"));
    assert_int_equal(json_object_size(file), 3); /* program, topology, stall_s */
    run_spec_destroy(spec);
    spec = spec_of(text);
    second = run_spec_to_json(spec);
    assert_true(json_equal(first, second));
    run_spec_destroy(spec);
    free(text);
    json_decref(first);
    json_decref(second);
    json_decref(file);
}

TEST(figures_add_up)
{
    struct run *run =
        run_create("0123456789ab", spec_of("{\"program\":{\"name\":\"p\"}}"), 1000);
    const double values[] = {4.0, -1.0, 3.0};
    json_t *json, *metric, *rank0;

    for (int i = 0; i < 3; i++) {
        json_t *body =
            json_pack("{s:i, s:s, s:f, s:s, s:b, s:i}", "case", 0, "metric", "m", "value",
                      values[i], "unit", "s", "higher_is_better", 0, "rank", i % 2);

        run_fold(run, 2000, "result", body);
        json_decref(body);
    }
    json = run_to_json(run, RUN_BRIEF);
    assert_int_equal(json_get_int(json, "rows_done", 0), 3);
    assert_int_equal(json_get_int(json, "rows_total", -1), 0);
    assert_string_equal(json_get_str(json, "program", ""), "p");
    metric =
        json_array_get(json_object_get(json_object_get(json, "summary"), "metrics"), 0);
    rank0 = json_object_get(metric, "rank0");
    assert_int_equal(json_get_int(metric, "count", 0), 3);
    assert_true(json_get_num(metric, "mean", 0.0) == 2.0);
    assert_true(json_get_num(metric, "min", 0.0) == -1.0);
    assert_true(json_get_num(metric, "max", 0.0) == 4.0);
    assert_true(json_get_num(metric, "last", 0.0) == 3.0);
    assert_true(json_get_num(rank0, "mean", 0.0) == 3.5);
    json_decref(json);
    run_destroy(run);
}

TEST(largest_figures_have_a_mean)
{
    struct run *run =
        run_create("0123456789ab", spec_of("{\"program\":{\"name\":\"p\"}}"), 1000);
    json_t *json, *metrics;

    for (int i = 0; i < 4; i++) {
        json_t *body =
            json_pack("{s:i, s:s, s:f, s:s, s:i}", "case", 0, "metric", "m", "value",
                      i % 2 ? 1.5e308 : 1e308, "unit", "s", "rank", 0);

        run_fold(run, 2000, "result", body);
        json_decref(body);
    }
    json = run_to_json(run, RUN_BRIEF);
    metrics = json_object_get(json_object_get(json, "summary"), "metrics");
    assert_int_equal(json_array_size(metrics), 1);
    assert_near(json_get_num(json_array_get(metrics, 0), "mean", 0.0), 1.25e308, 1e300);
    json_decref(json);
    run_destroy(run);
}

TEST(figures_are_shown)
{
    json_t *row =
        json_pack("{s:i, s:i, s:s, s:f, s:s, s:b, s:i, s:{s:i, s:s}}", "case", 0,
                  "attempt", 1, "metric", "bw", "value", 1.5, "unit", "GB/s",
                  "higher_is_better", 1, "rank", 0, "labels", "size", 8, "op", "a,b");
    json_t *run = json_pack("{s:{s:{}}}", "spec", "program");
    struct table table;
    struct csv columns;
    struct buf out;

    buf_init(&out, 1 << 16);
    csv_init(&columns, run);
    csv_header(&columns, &out);
    csv_row(&columns, row, &out);
    /* Further columns may follow these. */
    assert_non_null(out.data);
    assert_ptr_equal(strstr(out.data, "case,attempt,metric,value,unit,higher_is_better,"
                                      "rank,labels,"),
                     out.data);
    assert_non_null(strstr(out.data, "\r\n0,1,bw,1.5,GB/s,true,0,\"size=8;op=a,b\","));
    csv_release(&columns);
    json_decref(run);
    buf_release(&out);
    table_init(&table, NULL, false);
    table_row(&table, row, &out);
    table_row(&table, row, &out);
    table_end(&table, &out);
    assert_string_equal(
        out.data,
        "#\n# metric                              value  unit         rank\n"
        "bw                                      1.5  GB/s            0  size=8  op=a,b\n"
        "bw                                      1.5  GB/s            0  size=8  "
        "op=a,b\n");
    table_release(&table);
    buf_release(&out);
    json_decref(row);
}
