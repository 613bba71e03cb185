/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c - a run's model is what its events add up to */
#include "common/base/json_util.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"
#include "server/store/run_packed.h"
#include "tests/unit/mentions.h"
#include "tests/unit/spec_fixture.h"
#include "tests/unit/test.h"

static struct run *make_run(const char *spec)
{
    return run_create("0123456789ab", spec_of(spec), 1000);
}

static void apply(struct run *run, int64_t time_ms, const char *type, const char *text)
{
    json_t *body = json_of(text);

    run_fold(run, time_ms, type, body);
    json_decref(body);
}

static const char placed[] =
    "{\"backend\":\"host\",\"world_size\":3,\"nodes\":["
    "{\"name\":\"a\",\"ranks\":1},{\"name\":\"b\",\"ranks\":2}]}";

/* Those of the first case. */
static void assert_ranks(const json_t *doc, const char *wanted)
{
    const json_t *first = json_array_get(json_object_get(doc, "cases"), 0);
    char *text = json_text(json_object_get(first, "ranks"));

    assert_string_equal(text, wanted);
    free(text);
}

TEST(placement_numbers_the_ranks_node_by_node)
{
    struct run *run = make_run("{\"sizes\":[8,16],\"repeats\":2}");

    apply(run, 2000, "placed", placed);
    assert_int_equal(run->pool.world_size, 3);
    assert_string_equal(run_nodes_of_rank(&run->pool, 0)->name, "a");
    assert_string_equal(run_nodes_of_rank(&run->pool, 1)->name, "b");
    assert_string_equal(run_nodes_of_rank(&run->pool, 2)->name, "b");
    assert_null(run_nodes_of_rank(&run->pool, 3));
    /* 2 sizes, in and out of place, 2 cases */
    assert_int_equal(run->rows_total, 8);
    run_destroy(run);
}

TEST(states_carry_times_and_reasons)
{
    struct run *run = make_run("{}");

    apply(run, 1500, "state",
          "{\"state\":\"waiting_for_nodes\",\"reason\":\"no nodes\"}");
    assert_int_equal(run->state, RUN_WAITING_FOR_NODES);
    assert_string_equal(run->reason, "no nodes");
    apply(run, 2000, "state", "{\"state\":\"rendezvous\",\"reason\":null}");
    assert_null(run->reason);
    assert_int_equal(run->started_ms, 2000);
    assert_false(run_has_ended(run));
    apply(run, 9000, "state", "{\"state\":\"failed\",\"reason\":\"x\"}");
    assert_true(run_has_ended(run));
    assert_int_equal(run->ended_ms, 9000);
    run_destroy(run);
}

TEST(figures_alone_mark_an_emulated_run)
{
    struct run *run = make_run("{\"program\":{\"name\":\"x\"}}");
    json_t *json;

    apply(run, 1, "placed", placed);
    apply(run, 2, "case", "{\"case\":0,\"attempt\":1,\"state\":\"rendezvous\"}");
    apply(run, 3, "result",
          "{\"case\":0,\"metric\":\"barrier\",\"unit\":\"us\",\"value\":3.5,"
          "\"emulated\":true}");
    json = run_to_json(run, RUN_BRIEF);
    assert_true(json_is_true(json_object_get(json, "emulated")));
    json_decref(json);
    run_destroy(run);
}

TEST(results_add_up)
{
    struct run *run = make_run("{\"sizes\":[8,16,32]}");
    json_t *json;

    apply(run, 1, "placed", placed);
    apply(run, 2, "case", "{\"case\":0,\"attempt\":1,\"state\":\"rendezvous\"}");
    apply(run, 3, "result",
          "{\"case\":0,\"series\":0,\"size\":8,\"busbw_gbs\":1.5,\"wrong\":0}");
    json = run_to_json(run, RUN_BRIEF);
    assert_null(json_object_get(json, "emulated"));
    json_decref(json);
    apply(run, 4, "result",
          "{\"case\":0,\"series\":1,\"size\":8,\"busbw_gbs\":2.5,\"wrong\":3,"
          "\"emulated\":true,\"collective\":\"all_reduce\","
          "\"errors\":[{\"rank\":2,\"index\":5,"
          "\"expected\":\"6\",\"got\":\"7\"}]}");
    apply(run, 5, "result",
          "{\"case\":0,\"series\":0,\"size\":0,\"skipped\":\"too big\"}");
    assert_int_equal(run->rows_done, 3);
    assert_int_equal(run->rows_skipped, 1);
    assert_int_equal(run->wrong, 3);
    assert_int_equal(run->headline.size, 8);
    assert_true(fabs(median_of(&run->headline.busbw_gbs) - 1.5) < 1e-9);
    assert_mentions(run->cases[0].first_wrong, "all_reduce 8 rank 2, 5: 6, 7");
    json = run_to_json(run, RUN_WHOLE);
    assert_true(json_is_true(json_object_get(json, "emulated")));
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(json, "summary"), "curve")), 1);
    assert_ranks(json, "[{\"ranks\":[0,2],\"state\":\"assigned\",\"reason\":null}]");
    json_decref(json);
    apply(run, 6, "ranks", "{\"case\":0,\"ranks\":[0,2],\"state\":\"joined\"}");
    apply(run, 7, "rank",
          "{\"case\":0,\"rank\":2,\"state\":\"failed\",\"reason\":\"x\"}");
    json = run_to_json(run, RUN_WHOLE);
    assert_ranks(json, "[{\"ranks\":[0,0],\"state\":\"joined\",\"reason\":null},"
                       "{\"ranks\":[1,1],\"state\":\"assigned\",\"reason\":null},"
                       "{\"ranks\":[2,2],\"state\":\"failed\",\"reason\":\"x\"}]");
    json_decref(json);
    run_destroy(run);
}

/* Both are numbers; their sum is none. */
TEST(the_largest_figures_leave_a_summary)
{
    struct run *run = make_run("{}");
    json_t *json, *headline;

    apply(run, 1, "placed", placed);
    apply(run, 2, "result", "{\"case\":0,\"metric\":\"m\",\"value\":1.7e308}");
    apply(run, 3, "result", "{\"case\":0,\"metric\":\"m\",\"value\":1.5e308}");
    json = run_to_json(run, RUN_BRIEF);
    headline = json_object_get(json_object_get(json, "summary"), "headline");
    assert_true(fabs(json_get_num(headline, "value", 0) / 1e308 - 1.6) < 1e-9);
    json_decref(json);
    run_destroy(run);
}

/* Every event that the server does not expect, as a damaged or newer log may hold it. */
TEST(strange_events_change_nothing)
{
    static const char *const strange[][2] = {
        {"state", "{\"state\":\"exploded\"}"},
        {"state", "{}"},
        {"case", "{\"case\":7,\"state\":\"running\"}"},
        {"case", "{\"case\":-1,\"state\":\"running\"}"},
        {"rank", "{\"case\":0,\"rank\":0,\"state\":\"joined\"}"}, /* not started yet */
        {"rank", "{\"case\":0,\"rank\":99,\"state\":\"joined\"}"},
        {"result", "{\"case\":5,\"series\":0}"},
        {"prophecy", "{\"state\":\"completed\"}"},
    };
    struct run *run = make_run("{}");
    char *before, *after;
    json_t *json;

    json = run_to_json(run, RUN_WHOLE);
    before = json_dumps(json, JSON_SORT_KEYS);
    json_decref(json);
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
        apply(run, 5000, strange[i][0], strange[i][1]);
    json = run_to_json(run, RUN_WHOLE);
    after = json_dumps(json, JSON_SORT_KEYS);
    json_decref(json);
    assert_string_equal(before, after);
    free(before);
    free(after);
    run_destroy(run);
}

TEST(a_new_attempt_forgets_the_ranks_of_the_old)
{
    struct run *run = make_run("{}");

    apply(run, 1, "placed", placed);
    apply(run, 2, "case", "{\"case\":0,\"attempt\":1,\"state\":\"rendezvous\"}");
    apply(run, 3, "rank",
          "{\"case\":0,\"rank\":1,\"state\":\"failed\",\"reason\":\"x\"}");
    assert_int_equal(run->cases[0].ranks[1].state, RANK_FAILED);
    apply(run, 4, "case", "{\"case\":0,\"attempt\":2,\"state\":\"rendezvous\"}");
    assert_int_equal(run->cases[0].ranks[1].state, RANK_ASSIGNED);
    assert_null(run->cases[0].ranks[1].reason);
    assert_int_equal(run->cases[0].attempt, 2);
    run_destroy(run);
}

/* ---- Measured again ---- */

static void assert_kinds(const struct run *run, const char *wanted)
{
    char kinds[200] = "";
    const json_t *verdict;
    size_t i;

    json_array_foreach (run->verdicts, i, verdict) {
        strcat(kinds, i ? " " : "");
        strcat(kinds, json_get_str(verdict, "kind", "?"));
    }
    assert_string_equal(kinds, wanted);
}

#define SAID(kind) "{\"kind\":\"" kind "\",\"answer\":\"x\",\"sentence\":\"" kind "\"}"

TEST(a_run_has_the_verdicts_of_its_events_and_cases)
{
    struct run *run = make_run("{\"repeats\":2}");

    apply(
        run, 1000, "placed",
        "{\"nodes\":[{\"name\":\"a\",\"ranks\":1}],\"verdicts\":[" SAID("ceiling") "]}");
    assert_kinds(run, "ceiling");
    apply(run, 2000, "case",
          "{\"case\":0,\"attempt\":1,\"state\":\"failed\","
          "\"blamed\":{\"verdict\":" SAID("hang") "},"
                                                  "\"transports\":{\"verdicts\":[" SAID(
                                                      "transport") "]}}");
    apply(run, 3000, "case",
          "{\"case\":1,\"attempt\":1,\"state\":\"completed\","
          "\"transports\":{\"verdicts\":[" SAID("transport") "]}}");
    assert_kinds(run, "hang transport ceiling");
    /* What its earlier attempt came to counts no longer. */
    apply(run, 4000, "case", "{\"case\":0,\"attempt\":2,\"state\":\"rendezvous\"}");
    assert_kinds(run, "transport ceiling");
    apply(
        run, 5000, "state",
        "{\"state\":\"completed\",\"verdicts\":[" SAID("gate") "," SAID("traffic") "]}");
    assert_kinds(run, "gate transport traffic ceiling");
    /* Placed anew, the nodes are others. */
    apply(run, 6000, "placed", "{\"nodes\":[{\"name\":\"b\",\"ranks\":1}]}");
    assert_kinds(run, "transport");
    run_destroy(run);
}

TEST(a_run_that_is_measured_again_has_its_cases_twice)
{
    struct run *run = make_run("{\"sizes\":[8],\"in_place\":false,\"repeats\":2}");
    json_t *plan;

    apply(run, 1, "placed", placed);
    for (int i = 0; i < 2; i++) {
        char text[80];

        snprintf(text, sizeof(text),
                 "{\"case\":%d,\"attempt\":1,\"state\":\"rendezvous\"}", i);
        apply(run, 2, "case", text);
        snprintf(text, sizeof(text),
                 "{\"case\":%d,\"attempt\":1,\"state\":\"completed\"}", i);
        apply(run, 3, "case", text);
    }
    run->rows_done = 2;
    assert_false(run_plan_confirms(run));
    plan = run_plan_again(run);
    run_fold(run, 4, "plan", plan);
    run_fold(run, 5, "plan", plan); /* cases that are there come no second time */
    json_decref(plan);
    assert_int_equal(run->n_cases, 4);
    assert_int_equal(run->rows_total, 4);
    assert_true(run_plan_confirms(run));
    assert_false(run->cases[1].confirms);
    assert_true(run->cases[2].confirms);
    assert_int_equal(run->cases[2].state, CASE_QUEUED);
    run_destroy(run);
}

static void assert_packed_is_whole(const struct run *run)
{
    json_t *whole = run_to_json(run, RUN_WHOLE);
    json_t *packed = run_to_json(run, RUN_PACKED), *first = json_copy(packed);
    char *wanted = json_text(whole), *shown;
    struct buf out;

    buf_init(&out, 1 << 20);
    assert_int_equal(run_packed_append(packed, &out), 0);
    assert_string_equal(out.data, wanted);
    buf_release(&out);
    packed = run_unpack(packed);
    shown = json_text(packed);
    assert_string_equal(shown, wanted);
    /* What another thread may still read has not changed. */
    assert_true(json_is_string(json_array_get(json_object_get(first, "cases"), 0)));
    free(shown);
    free(wanted);
    json_decref(first);
    json_decref(packed);
    json_decref(whole);
}

TEST(a_packed_run_says_what_its_document_says)
{
    static const char *const changes[][2] = {
        {"placed", placed},
        {"case", "{\"case\":0,\"attempt\":1,\"state\":\"rendezvous\"}"},
        {"case", "{\"case\":0,\"attempt\":1,\"state\":\"failed\",\"reason\":\"x\"}"},
        {"rank", "{\"case\":0,\"rank\":1,\"state\":\"failed\",\"reason\":\"y\"}"},
        {"placed", placed},
        {"case", "{\"case\":0,\"attempt\":2,\"state\":\"rendezvous\"}"},
        {"ranks", "{\"case\":0,\"ranks\":[0,1],\"state\":\"joined\"}"},
        {"conditions", "{\"case\":0,\"attempt\":2,\"node\":\"a\",\"load_before\":1}"},
        {"case", "{\"case\":0,\"attempt\":2,\"state\":\"completed\"}"},
    };
    struct run *run = make_run("{\"repeats\":2}");

    assert_packed_is_whole(run);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        apply(run, (int64_t)i + 1, changes[i][0], changes[i][1]);
        assert_packed_is_whole(run);
    }
    run_destroy(run);
}

/* Of ten thousand cases those that have not changed are made once. */
TEST(cases_that_have_not_changed_are_packed_once)
{
    struct run *run = make_run("{\"repeats\":2}");
    json_t *before, *after;

    apply(run, 1, "placed", placed);
    before = run_to_json(run, RUN_PACKED);
    apply(run, 2, "case", "{\"case\":0,\"attempt\":1,\"state\":\"rendezvous\"}");
    after = run_to_json(run, RUN_PACKED);
    for (size_t i = 0; i < 2; i++) {
        bool is_same = json_array_get(json_object_get(before, "cases"), i) ==
                       json_array_get(json_object_get(after, "cases"), i);

        assert_int_equal(is_same, i == 1);
    }
    json_decref(before);
    json_decref(after);
    run_destroy(run);
}
