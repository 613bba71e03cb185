/* SPDX-License-Identifier: Apache-2.0 */
/* test_history.c - a run takes as long as the last ones like it */
#include "common/base/json_util.h"
#include "server/runs/history.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

#define SIZES "\"sizes\":[1048576,2097152]"
#define PROGRAM(n) "{\"program\":{\"name\":\"p\",\"args\":{\"n\":" #n "}}}"

/* A run of two ranks on a node. */
static json_t *run_of(const char *id, const char *node, const char *spec, int seconds)
{
    json_t *run =
        json_pack("{s:s, s:s, s:s, s:i, s:[{s:s, s:i}], s:s}", "id", id, "state",
                  "completed", "backend", "host", "world_size", 2, "nodes", "name", node,
                  "ranks", 2, "started", "2026-01-01T00:00:00.000Z");
    char ended[32];

    snprintf(ended, sizeof(ended), "2026-01-01T00:00:%02d.000Z", seconds);
    json_object_set_new(run, "ended", json_string(ended));
    json_object_set_new(run, "spec", json_loads(spec, 0, NULL));
    return run;
}

static void add(json_t *history, json_t *run)
{
    json_array_insert_new(history, 0, run);
}

/* So many runs took so long in the median; of none there is no time. */
static void expect(const json_t *history, const char *text, int world_size,
                   const char *node, double seconds, size_t runs)
{
    struct run_spec *spec = spec_of(text);
    json_t *nodes = json_pack("[{s:s, s:i}]", "name", node, "ranks", 2);
    json_t *time = history_time(history, spec, "host", world_size, nodes);

    assert_string_equal(json_get_str(time, "basis", ""), runs ? "runs" : "none");
    assert_int_equal(json_array_size(json_object_get(time, "runs")), runs);
    assert_float_equal(json_get_num(time, "seconds", 0), seconds, 1e-9);
    json_decref(time);
    json_decref(nodes);
    run_spec_destroy(spec);
}

TEST(only_the_same_work_takes_as_long)
{
    json_t *history = json_array();

    add(history, run_of("a", "n1", "{\"name\":\"x\"," SIZES ",\"iters\":100}", 2));
    expect(history, "{\"name\":\"y\",\"priority\":1," SIZES ",\"iters\":100}", 2, "n1", 2,
           1);
    expect(history, "{" SIZES ",\"iters\":1000}", 2, "n1", 0, 0);
    expect(history, "{" SIZES ",\"iters\":100,\"repeats\":5}", 2, "n1", 0, 0);
    expect(history, "{" SIZES ",\"iters\":100}", 4, "n1", 0, 0);
    json_decref(history);
}

TEST(nodes_that_were_measured_come_first)
{
    json_t *history = json_array();

    add(history, run_of("a", "n1", "{" SIZES "}", 2));
    add(history, run_of("b", "n2", "{" SIZES "}", 30));
    expect(history, "{" SIZES "}", 2, "n1", 2, 1);
    expect(history, "{" SIZES "}", 2, "n3", 30, 2);
    json_decref(history);
}

TEST(odd_run_out_of_three_does_not_count)
{
    json_t *history = json_array();

    for (int i = 0; i < 5; i++)
        add(history, run_of("old", "n1", "{" SIZES "}", 50));
    add(history, run_of("a", "n1", "{" SIZES "}", 2));
    add(history, run_of("b", "n1", "{" SIZES "}", 3));
    add(history, run_of("c", "n1", "{" SIZES "}", 40));
    expect(history, "{" SIZES "}", 2, "n1", 3, 3);
    json_decref(history);
}

TEST(programs_need_the_same_arguments)
{
    json_t *history = json_array();

    add(history, run_of("a", "n1", PROGRAM(1), 7));
    expect(history, PROGRAM(1), 2, "n1", 7, 1);
    expect(history, PROGRAM(2), 2, "n1", 0, 0);
    json_decref(history);
}

TEST(other_ends_teach_nothing)
{
    json_t *history = json_array();
    json_t *run = run_of("a", "n1", "{" SIZES "}", 2);

    add(history, run);
    json_object_set_new(run, "state", json_string("failed"));
    expect(history, "{" SIZES "}", 2, "n1", 0, 0);
    json_object_set_new(run, "state", json_string("completed"));
    json_object_set_new(run, "spec", json_loads("{\"unheard\":1}", 0, NULL));
    expect(history, "{" SIZES "}", 2, "n1", 0, 0);
    json_object_set_new(run, "spec", json_loads("{" SIZES "}", 0, NULL));
    json_object_set_new(run, "ended", json_null());
    expect(history, "{" SIZES "}", 2, "n1", 0, 0);
    json_decref(history);
}
