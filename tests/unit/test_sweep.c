/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c - one time that a watch measures its nodes */
#include "server/watches/sweep.h"

#include "common/base/json_util.h"
#include "server/finding/verdict.h"
#include "tests/unit/test.h"

static json_t *names_of(int n)
{
    json_t *names = json_array();
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "n%02d", i);
        json_array_append_new(names, json_string(name));
    }
    return names;
}

/* A watch whose sweep over n nodes has begun at 1000. */
static json_t *watch_of(int n, size_t at_once)
{
    json_t *names = names_of(n);
    json_t *watch = sweep_document("w", json_object(), NULL, 1);

    sweep_begin(watch, names, at_once, NULL, 900, 2, 1000);
    json_decref(names);
    return watch;
}

/* The document of a run of these nodes that has ended. */
static json_t *run_of(const json_t *nodes, const char *pattern, const char *kind,
                      const char *answer, const char *culprit)
{
    json_t *list = json_array(), *name, *checks;
    size_t i;

    json_array_foreach (nodes, i, name)
        json_array_append_new(list, json_pack("{s:O}", "name", name));
    checks = json_pack("[{s:s, s:s, s:s, s:{}}]", "check", "baseline", "answer", answer,
                       "sentence", "slower", "again");
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:{s:s, s:[s], s:[i]}, s:[{s:s, s:s, s:s, s:[s*], "
        "s:{s:o}}]}",
        "id", "r", "state", "completed", "ended", "2026-01-01T00:00:00.000Z", "backend",
        "sim", "nodes", list, "spec", "pattern", pattern, "collectives", "all_reduce",
        "sizes", 64, "verdicts", "kind", kind, "answer", answer, "sentence", "said",
        "nodes", culprit, "evidence", "checks", checks);
}

static void take_end(json_t *watch, const json_t *run)
{
    struct sweep_result result;

    sweep_take_end(watch, run, 2000, &result);
}

static void end_run(json_t *watch, const char *pattern, const char *kind,
                    const char *answer, const char *culprit)
{
    json_t *batch = sweep_measuring(watch), *run;

    assert_non_null(batch);
    run = run_of(json_object_get(batch, "nodes"), pattern, kind, answer, culprit);
    take_end(watch, run);
    json_decref(run);
}

static bool is_ready(void *arg, const char *node)
{
    return !arg || !strstr(arg, node);
}

/* Measure the next batch that is ready. */
static void take_next(json_t *watch, char *busy)
{
    json_t *batch = sweep_next(watch, is_ready, busy, false);

    assert_non_null(batch);
    sweep_take_run(batch, "r");
}

static void assert_answer(const json_t *closed, const char *answer)
{
    assert_string_equal(json_get_str(json_object_get(closed, "verdict"), "answer", ""),
                        answer);
}

static int64_t count_of(const json_t *watch, const char *name)
{
    return json_get_int(json_object_get(watch, "counts"), name, 0);
}

static json_t *batches_of(const json_t *watch)
{
    return json_object_get(json_object_get(watch, "sweep"), "batches");
}

TEST(nodes_are_divided_evenly_and_each_is_in_one_batch)
{
    for (int n = 0; n < 40; n++) {
        for (size_t most = 0; most < 12; most++) {
            json_t *names = names_of(n), *watch = watch_of(n, most), *batch;
            json_t *all = json_array();
            size_t least = SIZE_MAX, largest = 0, i;

            json_array_foreach (batches_of(watch), i, batch) {
                json_t *group = json_object_get(batch, "nodes");
                size_t size = json_array_size(group);

                least = size < least ? size : least;
                largest = size > largest ? size : largest;
                json_array_extend(all, group);
            }
            assert_true(json_equal(all, names));
            assert_true(largest - least <= 1);
            assert_true(most == 0 || largest <= most);
            json_decref(all);
            json_decref(watch);
            json_decref(names);
        }
    }
}

TEST(a_sweep_passes_when_all_of_its_groups_do)
{
    json_t *watch = watch_of(5, 3);
    const json_t *closed;

    take_next(watch, NULL);
    end_run(watch, "all", "gate", "pass", NULL);
    assert_false(sweep_is_over(watch));
    take_next(watch, NULL);
    end_run(watch, "all", "gate", "pass", NULL);
    assert_true(sweep_is_over(watch));
    closed = sweep_close(watch, 3000);
    assert_answer(closed, "pass");
    assert_int_equal(count_of(watch, "runs"), 2);
    assert_int_equal(count_of(watch, "missed"), 2);
    assert_true(json_is_null(json_object_get(watch, "sweep")));
    json_decref(watch);
}

TEST(what_is_slower_twice_is_followed_up_and_named)
{
    json_t *watch = watch_of(4, 0), *closed;
    const json_t *spec;

    take_next(watch, NULL);
    end_run(watch, "all", "gate", "fail", NULL);
    spec = json_object_get(sweep_next(watch, is_ready, NULL, false), "spec");
    assert_string_equal(json_get_str(spec, "pattern", ""), "pairs");
    take_next(watch, NULL);
    end_run(watch, "pairs", "culprit", "slow_node", "n02");
    assert_true(sweep_is_over(watch));
    closed = (json_t *)(uintptr_t)sweep_close(watch, 3000);
    assert_answer(closed, "slow_node");
    assert_string_equal(
        json_string_value(json_array_get(
            json_object_get(json_object_get(closed, "verdict"), "nodes"), 0)),
        "n02");
    assert_int_equal(count_of(watch, "alarms"), 1);
    assert_int_equal(count_of(watch, "unconfirmed_alarms"), 0);
    assert_int_equal(count_of(watch, "fails"), 1);
    assert_int_equal(count_of(watch, "named"), 1);
    assert_int_equal(count_of(watch, "unexplained"), 0);
    json_decref(watch);
}

TEST(an_alarm_that_the_second_measurement_refutes_is_counted_as_unconfirmed)
{
    json_t *watch = watch_of(4, 0);

    take_next(watch, NULL);
    end_run(watch, "all", "gate", "pass", NULL);
    assert_answer(sweep_close(watch, 3000), "pass");
    assert_int_equal(count_of(watch, "alarms"), 1);
    assert_int_equal(count_of(watch, "unconfirmed_alarms"), 1);
    assert_int_equal(count_of(watch, "fails"), 0);
    json_decref(watch);
}

TEST(pairs_that_name_nobody_pass_when_nothing_was_slow_before)
{
    json_t *watch = watch_of(4, 0);

    take_next(watch, NULL);
    end_run(watch, "pairs", "culprit", "none", NULL);
    assert_answer(sweep_close(watch, 3000), "pass");
    assert_int_equal(count_of(watch, "unexplained"), 0);
    json_decref(watch);
}

TEST(a_lasting_slowdown_of_a_run_that_passes_is_followed_up_once)
{
    json_t *nodes = names_of(4), *run = run_of(nodes, "all", "gate", "pass", NULL);
    json_t *gate = json_array_get(json_object_get(run, "verdicts"), 0);
    json_t *checks = json_object_get(json_object_get(gate, "evidence"), "checks");
    json_t *changes = json_pack("{s:[{s:s, s:b}, {s:s, s:b}]}", "changes", "run", "r1",
                                "slower", 0, "run", "r2", "slower", 1);
    static const bool is_followed[] = {false, true, false};

    for (size_t i = 0; i < 3; i++) {
        json_t *watch = watch_of(4, 0), *batch;
        struct sweep_result result;

        if (i == 1)
            json_object_set(json_array_get(checks, 0), "lasting", changes);
        if (i > 0)
            json_object_set_new(watch, "lasting", json_string(i == 1 ? "r1" : "r2"));
        take_next(watch, NULL);
        batch = sweep_measuring(watch);
        assert_false(sweep_take_end(watch, run, 2000, &result));
        assert_int_equal(json_object_get(batch, "spec") != NULL, is_followed[i]);
        assert_int_equal(result.has_judged, !is_followed[i]);
        if (i > 0)
            assert_string_equal(json_get_str(watch, "lasting", ""), "r2");
        json_decref(watch);
    }
    json_decref(changes);
    json_decref(run);
    json_decref(nodes);
}

TEST(when_none_stands_out_the_verdict_says_so)
{
    static const struct {
        const char *culprit, *answer;
    } cases[] = {
        {"none", "none"}, {"slow_together", "none"}, {"not_enough_data", "fail"}};

    for (size_t i = 0; i < 3; i++) {
        json_t *watch = watch_of(4, 0);

        take_next(watch, NULL);
        end_run(watch, "all", "gate", "fail", NULL);
        take_next(watch, NULL);
        end_run(watch, "pairs", "culprit", cases[i].culprit, NULL);
        assert_answer(sweep_close(watch, 3000), cases[i].answer);
        assert_int_equal(count_of(watch, "unexplained"), 1);
        json_decref(watch);
    }
}

TEST(a_run_that_yields_leaves_its_batch_to_be_measured)
{
    json_t *watch = watch_of(4, 0);
    json_t *run = json_pack("{s:s, s:s, s:{s:s}}", "state", "cancelled", "reason",
                            "its nodes are needed by run x", "spec", "pattern", "all");

    take_next(watch, NULL);
    take_end(watch, run);
    assert_int_equal(count_of(watch, "yielded"), 1);
    assert_int_equal(count_of(watch, "runs"), 0);
    take_next(watch, NULL);
    json_object_set_new(run, "reason", json_string("cancelled by request"));
    take_end(watch, run);
    assert_true(sweep_is_over(watch));
    assert_answer(sweep_close(watch, 3000), "not_evaluated");
    json_decref(run);
    json_decref(watch);
}

TEST(busy_nodes_keep_the_others_waiting_until_the_batch_is_split)
{
    json_t *watch = watch_of(5, 0);
    char busy[] = "n01 n03";
    const json_t *closed;

    assert_null(sweep_next(watch, is_ready, busy, false));
    assert_non_null(sweep_next(watch, is_ready, busy, true));
    assert_non_null(sweep_next(watch, is_ready, busy, true));
    take_next(watch, busy);
    end_run(watch, "all", "gate", "pass", NULL);
    assert_null(sweep_next(watch, is_ready, busy, true));
    assert_int_equal(json_array_size(batches_of(watch)), 2);
    closed = sweep_close(watch, 3000);
    assert_answer(closed, "pass");
    closed = json_object_get(json_object_get(closed, "verdict"), "evidence");
    assert_int_equal(json_get_int(closed, "measured", 0), 3);
    assert_int_equal(json_get_int(closed, "of", 0), 5);
    assert_int_equal(json_array_size(json_object_get(closed, "missed")), 2);
    json_decref(watch);
}

TEST(only_the_group_of_one_node_is_measured_if_it_is_named)
{
    json_t *watch = watch_of(7, 3), *names = names_of(7), *batches, *nodes;

    sweep_close(watch, 3000);
    sweep_begin(watch, names, 3, "n03", 4000, 0, 4000);
    batches = json_object_get(json_object_get(watch, "sweep"), "batches");
    assert_int_equal(json_array_size(batches), 1);
    nodes = json_object_get(json_array_get(batches, 0), "nodes");
    assert_true(json_has_string(nodes, "n03"));
    assert_in_range(json_array_size(nodes), 2, 3);
    json_decref(names);
    json_decref(watch);
}

TEST(a_follow_up_in_another_job_judges_the_nodes_of_that_job)
{
    json_t *watch = watch_of(0, 0), *nodes = json_pack("[s, s, s]", "m0", "m1", "m2");
    json_t *first = names_of(4), *run;
    struct sweep_result result;

    take_next(watch, NULL);
    run = run_of(first, "all", "gate", "fail", NULL);
    take_end(watch, run);
    json_decref(run);
    take_next(watch, NULL);
    run = run_of(nodes, "pairs", "culprit", "slow_node", "m1");
    assert_true(sweep_take_end(watch, run, 2000, &result));
    assert_true(result.has_judged);
    assert_true(json_equal(result.nodes, nodes));
    json_decref(run);
    json_decref(first);
    json_decref(nodes);
    json_decref(watch);
}

TEST(a_failed_run_of_a_launcher_tells_its_nodes)
{
    json_t *watch = watch_of(0, 0), *nodes = names_of(2);
    json_t *run = run_of(nodes, "all", "gate", "fail", NULL);
    json_t *gate = json_array_get(json_object_get(run, "verdicts"), 0);
    struct sweep_result result;

    json_object_set_new(run, "state", json_string("failed"));
    json_object_del(json_object_get(gate, "evidence"), "checks");
    take_next(watch, NULL);
    assert_true(sweep_take_end(watch, run, 2000, &result));
    assert_true(json_equal(result.nodes, nodes));
    json_decref(run);
    json_decref(nodes);
    json_decref(watch);
}

static void assert_stale(json_t *watch, const json_t *names, int64_t now_ms, size_t fresh)
{
    json_t *stale = sweep_take_stale(watch, names, 100, now_ms);

    assert_int_equal(json_array_size(stale), fresh);
    json_decref(stale);
}

TEST(each_node_becomes_stale_once_also_one_that_came_late)
{
    json_t *watch = watch_of(3, 0), *names = names_of(3);

    assert_stale(watch, names, 200, 0);
    assert_stale(watch, names, 300, 3);
    assert_stale(watch, names, 400, 0);
    take_next(watch, NULL);
    end_run(watch, "all", "gate", "pass", NULL);
    assert_stale(watch, names, 2000, 0);
    json_array_append_new(names, json_string("late"));
    assert_stale(watch, names, 2100, 1);
    assert_stale(watch, names, 2200, 0);
    assert_stale(watch, names, 2300, 3);
    json_decref(names);
    json_decref(watch);
}

TEST(so_many_sweeps_are_kept)
{
    json_t *watch = watch_of(3, 0), *names = names_of(3);

    for (int i = 0; i < SWEEPS_KEPT + 5; i++) {
        sweep_close(watch, 3000 + i);
        sweep_begin(watch, names, 0, NULL, 900, 0, 4000);
    }
    assert_int_equal(json_array_size(json_object_get(watch, "sweeps")), SWEEPS_KEPT);
    json_decref(names);
    json_decref(watch);
}
