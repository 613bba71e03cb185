/* SPDX-License-Identifier: Apache-2.0 */
/* test_judge_queue.c - runs that ended get their values, also those of an older server
 */
#include "tests/unit/store_fixture.h"

#include "common/base/json_util.h"
#include "server/runs/judge_queue.h"
#include "server/store/store_trends.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

/* A run of three cases on node a, of which the last failed. */
static json_t *doc_of(const char *id, const char *state)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:[{s:s, s:i}], s:{s:s},"
                     " s:[{s:i, s:i, s:s}, {s:i, s:i, s:s}, {s:i, s:i, s:s}],"
                     " s:[{s:s, s:{s:s}, s:[s]}]}",
                     "id", id, "state", state, "created", "2026-01-02T03:04:05.000Z",
                     "backend", "host", "world_size", 2, "nodes", "name", "a", "ranks", 2,
                     "spec", "timing", "throughput", "cases", "case", 0, "attempt", 1,
                     "state", "completed", "case", 1, "attempt", 1, "state", "completed",
                     "case", 2, "attempt", 1, "state", "failed", "machines", "hardware",
                     "EPYC", "versions", "nccl", "2.27.3", "nodes", "a");
}

static void add_row(struct store_write *write, const char *id, int case_no, int attempt,
                    bool is_large, double time_us)
{
    json_t *row =
        json_pack("{s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:i, s:b, s:i, s:f, s:f, s:f}",
                  "case", case_no, "attempt", attempt, "row", is_large, "series", 0,
                  "collective", "all_reduce", "dtype", "float32", "redop", "sum", "root",
                  -1, "in_place", 0, "size", is_large ? 32 : 8, "time_us", time_us,
                  "algbw_gbs", 1.0, "busbw_gbs", 1.0);

    store_write_event(write, id, 5, "result", row);
    json_decref(row);
}

/* Times of case c at sizes 8 and 32 are 4 (c + 1) and 9 (c + 1): their geometric mean is
 * 6 (c + 1). */
static void write_run(struct store_write *write, const char *id, const char *state)
{
    json_t *doc = doc_of(id, state);

    store_write_run(write, id, state, "", 5, NULL, doc);
    for (int case_no = 0; case_no < 3; case_no++) {
        add_row(write, id, case_no, 1, false, 4.0 * (case_no + 1));
        add_row(write, id, case_no, 1, true, 9.0 * (case_no + 1));
    }
    json_decref(doc);
}

static void add_run(struct fixture *fixture, const char *id, const char *state)
{
    struct store_write *write = store_write_create();

    write_run(write, id, state);
    store_it(fixture, write);
}

static void on_ready(void *arg, const struct error *err)
{
    on_written(arg, err, NULL, 0);
}

/* The points of the latency band; a new reference. */
static json_t *points_now(struct fixture *fixture)
{
    const struct store_trends_query query = {.figure = "all_reduce float32 latency",
                                             .limit = 10};
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *found = store_get_trends(db, &query, &err);
    json_t *points = json_incref(json_object_get(found, "points"));

    json_decref(found);
    sqlite3_close(db);
    return points;
}

/* The same once the run has its values. */
static json_t *points_after(struct fixture *fixture, struct judge_queue *queue,
                            const char *run)
{
    struct heard ready = {0};

    judge_queue_await(queue, run, on_ready, &ready);
    wait_for(fixture, &ready, 1);
    assert_int_equal(ready.err.code, ERROR_NONE);
    return points_now(fixture);
}

static void assert_value(const json_t *points, size_t i, const char *run)
{
    const json_t *point = json_array_get(points, i);
    const json_t *like = json_object_get(point, "like");

    assert_string_equal(json_get_str(point, "run", ""), run);
    assert_int_equal(json_get_int(point, "cases", 0), 2);
    assert_float_equal((float)json_get_num(point, "value", 0), sqrtf(72), 1e-5);
    assert_float_equal((float)json_get_num(point, "least", 0), 6.0, 1e-5);
    assert_float_equal((float)json_get_num(point, "most", 0), 12.0, 1e-5);
    assert_true(json_is_null(json_object_get(point, "low")));
    assert_int_equal(json_get_int(json_object_get(like, "nodes"), "a", 0), 2);
    assert_string_equal(json_get_str(json_object_get(point, "versions"), "nccl", ""),
                        "2.27.3");
}

TEST(older_runs_and_those_that_end_get_values)
{
    struct fixture *fixture = *state;
    struct judge_queue *queue;
    json_t *points;

    add_run(fixture, "run1", "failed");
    queue = judge_queue_create(fixture->store, NULL);
    points = points_after(fixture, queue, "run1");
    assert_int_equal(json_array_size(points), 1);
    assert_value(points, 0, "run1");
    json_decref(points);
    add_run(fixture, "run2", "completed");
    add_run(fixture, "run3", "running");
    points = points_after(fixture, queue, "run2");
    assert_int_equal(json_array_size(points), 2);
    assert_value(points, 0, "run2");
    assert_value(points, 1, "run1");
    json_decref(points);
    judge_queue_close(queue);
}

/* A comparison right after the last of many imports finds them all. */
TEST(who_asks_for_one_run_finds_all_that_ended_before)
{
    enum { N = 8 };
    struct fixture *fixture = *state;
    struct judge_queue *queue = judge_queue_create(fixture->store, NULL);
    struct store_write *write = store_write_create();
    char id[] = "run0";
    json_t *points;

    for (int i = 0; i < N; i++) {
        id[3] = (char)('0' + i);
        write_run(write, id, "completed");
    }
    store_it(fixture, write);
    for (int i = 0; i < N; i++) {
        id[3] = (char)('0' + i);
        judge_queue_note_end(queue, id);
    }
    points = points_after(fixture, queue, id);
    assert_int_equal(json_array_size(points), N);
    json_decref(points);
    judge_queue_close(queue);
}

static size_t count_points(struct fixture *fixture)
{
    json_t *points = points_now(fixture);
    size_t n = json_array_size(points);

    json_decref(points);
    return n;
}

TEST(a_run_that_cannot_be_read_holds_up_no_older_one)
{
    struct fixture *fixture = *state;
    struct judge_queue *queue;

    add_run(fixture, "run1", "completed");
    add_run(fixture, "run2", "completed");
    add_run(fixture, "run3", "completed");
    /* The database reads columns out of it, and so takes no other than JSON. */
    change_database(fixture,
                    "UPDATE runs SET doc = '{\"a\": 1, \"a\": 2}' WHERE id = 'run3'");
    queue = judge_queue_create(fixture->store, NULL);
    while (count_points(fixture) < 2) /* or the test's limit */
        uv_run(&fixture->loop, UV_RUN_ONCE);
    add_run(fixture, "run4", "completed");
    judge_queue_note_end(queue, "run4");
    while (count_points(fixture) < 3)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    judge_queue_close(queue);
}

/* Whatever it is at: nothing is left behind, and who waits is told what came of it. */
TEST(keeper_can_be_closed_at_any_time)
{
    struct fixture *fixture = *state;
    bool is_over = false;

    add_run(fixture, "run1", "completed");
    for (int turns = 0; !is_over; turns++) {
        struct judge_queue *queue = judge_queue_create(fixture->store, NULL);
        struct heard ready = {0}, second = {0};

        judge_queue_await(queue, "run1", on_ready, &ready);
        judge_queue_await(queue, "none", on_ready, &second);
        for (int i = 0; i < turns && !second.calls; i++)
            uv_run(&fixture->loop, UV_RUN_ONCE);
        is_over = second.calls;
        judge_queue_close(queue);
        wait_for(fixture, &ready, 1);
        wait_for(fixture, &second, 1);
        if (count_points(fixture) == 0)
            assert_int_equal(ready.err.code, ERROR_UNAVAILABLE);
        assert_int_equal(second.err.code, is_over ? ERROR_NONE : ERROR_UNAVAILABLE);
    }
    assert_int_equal(count_points(fixture), 1);
}

TEST(who_waits_for_the_run_under_way_hears_of_a_close)
{
    struct fixture *fixture = *state;
    struct judge_queue *queue = judge_queue_create(fixture->store, NULL);
    struct heard first = {0}, second = {0};

    judge_queue_await(queue, "none", on_ready, &first);
    wait_for(fixture, &first, 1);
    assert_int_equal(first.err.code, ERROR_NONE);
    judge_queue_await(queue, "none", on_ready, &second);
    judge_queue_close(queue);
    wait_for(fixture, &second, 1);
    assert_int_equal(second.err.code, ERROR_UNAVAILABLE);
}
