/* SPDX-License-Identifier: Apache-2.0 */
/* test_recover.c - what a server takes up of the runs that it finds unfinished. The test
 * writes the database that a killed server left, and starts a scheduler on it. */
#include "tests/unit/store_fixture.h"

#include <sqlite3.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "server/runs/scheduler.h"
#include "server/store/run_packed.h"
#include "server/finding/verdict.h"
#include "tests/unit/test.h"

#define START_MS INT64_C(1700000000000)
#define DAY_MS INT64_C(86400000)

/* The wall clock, as it is set. The other one goes on in steps. */
static int64_t wall_ms;
static int64_t monotonic_ns = 1;

static struct clock_time read_clock(void *arg)
{
    (void)arg;
    return (struct clock_time){.wall_ms = wall_ms, .monotonic_ns = monotonic_ns};
}

static const struct clock given_clock = {.read = read_clock};

struct world {
    struct fixture *fixture;
    struct rendezvous *rendezvous;
    struct scheduler *scheduler;
};

/* Also of a test that fails. */
static struct world running;

static void start(struct world *world, struct fixture *fixture)
{
    struct rendezvous_config rendezvous = {.listen.ss_family = AF_INET};
    struct scheduler_config config = {
        .lease_s = 60, .poll_s = 1, .join_s = 30, .clock = &given_clock};
    struct error err;

    log_init("test", LOG_ERROR);
    world->fixture = fixture;
    world->rendezvous = rendezvous_create(&fixture->loop, &rendezvous);
    config.store = fixture->store;
    config.rendezvous = world->rendezvous;
    world->scheduler = scheduler_create(&fixture->loop, &config);
    if (scheduler_recover(world->scheduler, &err))
        fail_msg("scheduler_recover: %s", err.text);
    running = *world;
}

static void stop(struct world *world)
{
    bool is_closed = false;

    running.scheduler = NULL;
    scheduler_close(world->scheduler, fixture_mark_closed, &is_closed);
    while (!is_closed)
        uv_run(&world->fixture->loop, UV_RUN_ONCE);
    is_closed = false;
    rendezvous_close(world->rendezvous, fixture_mark_closed, &is_closed);
    while (!is_closed)
        uv_run(&world->fixture->loop, UV_RUN_ONCE);
    fixture_close(world->fixture);
    scheduler_free(world->scheduler);
}

static void restart(struct world *world)
{
    stop(world);
    fixture_open(world->fixture);
    start(world, world->fixture);
}

/* ---- The database ---- */

static json_t *json_of(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);

    if (!json)
        fail_msg("the test's own text is not JSON: %s", text);
    return json;
}

static void put_run(struct store_write *write, const char *id, const char *state,
                    const char *text)
{
    json_t *doc = json_of(text);

    json_object_set_new(doc, "id", json_string(id));
    json_object_set_new(doc, "state", json_string(state));
    json_object_set_new(doc, "created", json_string("2023-11-14T22:13:20.000Z"));
    assert_int_equal(store_write_run(write, id, state, "", START_MS, NULL, doc), 0);
    json_decref(doc);
}

static void put_event(struct store_write *write, const char *run, int64_t time_ms,
                      const char *type, const char *text)
{
    json_t *body = json_of(text);

    assert_int_equal(store_write_event(write, run, time_ms, type, body), 0);
    json_decref(body);
}

static void put_row(struct store_write *write, int64_t time_ms, int case_no, int attempt,
                    int row, double busbw, int wrong)
{
    json_t *body = json_pack(
        "{s:i, s:i, s:i, s:i, s:s, s:i, s:f, s:f, s:i, s:[{s:i, s:i, s:s, s:s}]}", "case",
        case_no, "attempt", attempt, "row", row, "series", 0, "collective", "all_reduce",
        "size", 8 << row, "time_us", 10.0, "busbw_gbs", busbw, "wrong", wrong, "errors",
        "rank", 1, "index", 5, "expected", "6", "got", "7");

    assert_int_equal(store_write_event(write, "run1", time_ms, "result", body), 0);
    json_decref(body);
}

static void put_placed(struct store_write *write)
{
    put_event(write, "run1", START_MS + 1000, "placed",
              "{\"backend\":\"host\",\"nodes\":[{\"name\":\"a\",\"ranks\":2}]}");
    put_event(write, "run1", START_MS + 1000, "state", "{\"state\":\"rendezvous\"}");
}

static void put_case(struct store_write *write, int64_t time_ms, int number,
                     const char *state)
{
    char text[120];

    snprintf(text, sizeof(text), "{\"case\":%d,\"attempt\":1,\"state\":\"%s\"}", number,
             state);
    put_event(write, "run1", time_ms, "case", text);
}

/* Of three cases of four sizes, one has ended with two rows and the second is in `state`
 * for 20 s. When the time under way was last stored, it was 50 s. */
static void put_interrupted(struct store_write *write, const char *state)
{
    put_run(write, "run1", "running",
            "{\"spec\":{\"sizes\":[8,16,32,64],\"repeats\":3,\"timeout_s\":600}}");
    put_placed(write);
    put_case(write, START_MS + 1000, 0, "rendezvous");
    put_event(write, "run1", START_MS + 1000, "state", "{\"state\":\"running\"}");
    put_case(write, START_MS + 2000, 0, "running");
    put_row(write, START_MS + 5000, 0, 1, 0, 1.5, 0);
    put_row(write, START_MS + 6000, 0, 1, 1, 2.5, 3);
    put_case(write, START_MS + 11000, 0, "completed");
    put_case(write, START_MS + 20000, 1, "rendezvous");
    if (strcmp(state, "rendezvous") != 0)
        put_case(write, START_MS + 20000, 1, state);
    put_event(write, "run1", START_MS + 51000, "message",
              "{\"text\":\"x\",\"ran_ms\":50000}");
}

/* ---- What is asked ---- */

static json_t *shown(const struct world *world, const char *run)
{
    json_t *doc = run_unpack(scheduler_run_packed(world->scheduler, run));

    assert_non_null(doc);
    return doc;
}

static const json_t *case_at(const json_t *doc, size_t i)
{
    return json_array_get(json_object_get(doc, "cases"), i);
}

/* The rows, as pages and as the stream of all results give them. */
static size_t rows_in_answers(struct fixture *fixture)
{
    struct store_rows_query query = {ANY_ROW, .run = "run1", .limit = 1000};
    sqlite3 *db = fixture_reader(fixture);
    struct heard all = {0};
    struct error err;
    struct store_events *page = store_read_rows(db, &query, &err);
    size_t n;

    sqlite3_close(db);
    assert_non_null(page);
    store_read_events(fixture->store, "run1", 0, "result", 1000, on_page, &all);
    wait_for(fixture, &all, 1);
    n = page->n;
    assert_int_equal(all.page->n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(page->list[i].body, all.page->list[i].body);
    store_events_destroy(page);
    store_events_destroy(all.page);
    return n;
}

static double headline_of(const json_t *summary)
{
    return json_get_num(json_object_get(summary, "headline"), "busbw_gbs", 0);
}

/* ---- Tests ---- */

TEST(a_running_case_is_taken_up_with_all_that_was_stored)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    const json_t *ranks, *summary;
    struct world world;
    json_t *doc;

    wall_ms = START_MS + 60000;
    put_interrupted(write, "running");
    put_event(write, "run1", START_MS + 21000, "rank",
              "{\"case\":1,\"attempt\":1,\"rank\":0,\"state\":\"done\"}");
    put_event(write, "run1", START_MS + 21000, "rank",
              "{\"case\":1,\"attempt\":1,\"rank\":1,\"state\":\"running\"}");
    put_event(write, "run1", START_MS + 22000, "case",
              "{\"case\":1,\"repeat\":1,\"attempt\":1,\"state\":\"running\"}");
    put_row(write, START_MS + 23000, 1, 1, 0, 4.5, 0);
    store_it(fixture, write);
    start(&world, fixture);
    doc = shown(&world, "run1");
    assert_string_equal(json_get_str(doc, "state", ""), "running");
    assert_int_equal(json_get_int(doc, "rows_done", -1), 3);
    assert_int_equal(json_get_int(doc, "rows_total", -1), 24);
    assert_int_equal(json_array_size(json_object_get(doc, "cases")), 3);
    assert_string_equal(json_get_str(case_at(doc, 1), "state", ""), "running");
    assert_string_equal(json_get_str(case_at(doc, 2), "state", ""), "queued");
    ranks = json_object_get(case_at(doc, 1), "ranks");
    assert_string_equal(json_get_str(json_array_get(ranks, 0), "state", ""), "done");
    assert_string_equal(json_get_str(json_array_get(ranks, 1), "state", ""), "running");
    summary = json_object_get(doc, "summary");
    assert_true(headline_of(summary) == 2.5);
    assert_int_equal(json_get_int(summary, "wrong", 0), 3);
    assert_int_equal(json_array_size(json_object_get(summary, "curve")), 2);
    assert_int_equal(scheduler_head(world.scheduler, "run1"), 15);
    assert_int_equal(rows_in_answers(fixture), 3);
    json_decref(doc);
    stop(&world);
}

static void spoil_texts(const struct fixture *fixture, const char *which)
{
    char sql[200];

    snprintf(sql, sizeof(sql), "UPDATE events SET body = 'x' WHERE %s", which);
    change_database(fixture, sql);
}

TEST(many_rows_are_taken_up_without_reading_their_events)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;
    json_t *doc;

    put_interrupted(write, "running");
    for (int i = 0; i < 5000; i++)
        put_row(write, START_MS + 21000 + i, 1, 1, i % 4, 2.0, 0);
    store_it(fixture, write);
    spoil_texts(fixture, "type = 'result'");
    start(&world, fixture);
    doc = shown(&world, "run1");
    assert_int_equal(json_get_int(doc, "rows_done", -1), 5002);
    assert_true(headline_of(json_object_get(doc, "summary")) == 2.0);
    json_decref(doc);
    stop(&world);
}

/* The server died when rows had come and it did not know yet that all ranks run. */
TEST(rows_of_an_attempt_that_starts_anew_are_not_the_runs)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;
    json_t *doc, *events;

    wall_ms = START_MS + 60000;
    put_interrupted(write, "rendezvous");
    for (int row = 0; row < 100; row++)
        put_row(write, START_MS + 23000, 1, 1, row % 4, 99.5, 1);
    store_it(fixture, write);
    start(&world, fixture);
    doc = shown(&world, "run1");
    assert_string_equal(json_get_str(case_at(doc, 1), "state", ""), "queued");
    assert_int_equal(json_get_int(doc, "rows_done", -1), 2);
    assert_int_equal(json_get_int(json_object_get(doc, "summary"), "wrong", -1), 3);
    assert_true(headline_of(json_object_get(doc, "summary")) == 2.5);
    json_decref(doc);
    /* The log keeps all. What is shown of results does not, now and ever. */
    restart(&world);
    assert_int_equal(rows_in_answers(fixture), 2);
    events = events_of(fixture, "run1");
    assert_true(json_array_size(events) > 103);
    assert_string_equal(json_get_str(json_array_get(events, 50), "type", ""), "result");
    json_decref(events);
    doc = shown(&world, "run1");
    assert_int_equal(json_get_int(doc, "rows_done", -1), 2);
    json_decref(doc);
    /* The next attempt's rows go where the old ones were. */
    write = store_write_create();
    put_row(write, START_MS + 70000, 1, 2, 0, 3.5, 0);
    store_it(fixture, write);
    assert_int_equal(rows_in_answers(fixture), 3);
    stop(&world);
}

/* An isolated run, of which one case has ended, and another begins anew. */
static void put_timed(struct store_write *write)
{
    put_run(write, "run1", "running",
            "{\"spec\":{\"sizes\":[8],\"timing\":\"isolated\",\"repeats\":2}}");
    put_placed(write);
    put_case(write, START_MS + 1000, 0, "rendezvous");
    for (int i = 0; i < 24; i++) {
        char text[200];

        snprintf(text, sizeof(text),
                 "{\"case\":%d,\"attempt\":1,\"row\":%d,\"series\":0,\"size\":8,"
                 "\"collective\":\"all_reduce\",\"time_max_us\":90,"
                 "\"late_us\":[0,60],\"busbw_gbs\":1}",
                 i / 12, i % 12);
        if (i == 12) {
            put_case(write, START_MS + 2000, 0, "completed");
            put_case(write, START_MS + 2000, 1, "rendezvous");
        }
        put_event(write, "run1", START_MS + 2000, "result", text);
    }
}

TEST(who_was_late_before_a_restart_is_told_at_the_end)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;
    const json_t *body;
    json_t *events;
    struct error err;

    put_timed(write);
    store_it(fixture, write);
    start(&world, fixture);
    assert_int_equal(scheduler_cancel(world.scheduler, "run1", &err), 0);
    scheduler_tick(world.scheduler);
    while (scheduler_head(world.scheduler, "run1") > 0)
        uv_run(&fixture->loop, UV_RUN_ONCE);
    events = events_of(fixture, "run1");
    body = json_array_get(events, json_array_size(events) - 1);
    body = verdicts_find(json_object_get(body, "verdicts"), VERDICT_LATENESS);
    body = json_object_get(body, "evidence");
    assert_int_equal(json_get_int(body, "rows", -1), 12);
    assert_int_equal(json_get_int(body, "late", -1), 1);
    json_decref(events);
    stop(&world);
}

/* A run whose wait for nodes is over: when its end is stored, the scheduler has looked at
 * all, and what it said of others is stored too. */
static void put_impatient(struct store_write *write)
{
    put_run(
        write, "run2", "waiting_for_nodes",
        "{\"nodes\":[],\"cases\":[],\"spec\":{\"nodes\":{\"count\":1,\"wait_s\":0}}}");
    put_event(write, "run2", START_MS, "state", "{\"state\":\"waiting_for_nodes\"}");
}

static void pass(struct world *world, int64_t ms)
{
    monotonic_ns += ms * 1000000;
    scheduler_tick(world->scheduler);
}

static void await_a_look_at_all_runs(struct world *world)
{
    pass(world, 100);
    while (scheduler_run_is_active(world->scheduler, "run2") ||
           scheduler_head(world->scheduler, "run2") > 0)
        uv_run(&world->fixture->loop, UV_RUN_ONCE);
}

static bool is_timed_out(struct world *world)
{
    json_t *events = events_of(world->fixture, "run1");
    char *text = json_dumps(events, 0);
    bool found = strstr(text, "timeout of 600 s") != NULL;

    free(text);
    json_decref(events);
    return found;
}

static void assert_goes_on_after_a_restart(struct fixture *fixture)
{
    struct store_write *write = store_write_create();
    struct world world;

    fixture_open(fixture);
    put_impatient(write);
    store_it(fixture, write);
    start(&world, fixture);
    await_a_look_at_all_runs(&world);
    assert_false(is_timed_out(&world));
    stop(&world);
}

TEST(a_clock_set_forward_does_not_time_a_run_out)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;

    put_interrupted(write, "running");
    put_impatient(write);
    store_it(fixture, write);
    wall_ms = START_MS + 3 * DAY_MS;
    start(&world, fixture);
    await_a_look_at_all_runs(&world);
    assert_false(is_timed_out(&world));
    stop(&world);
    /* Nor at the next restart, when the latest events have the new time. */
    assert_goes_on_after_a_restart(fixture);
}

/* Set while the server runs: what is stored then has the time from there on. */
TEST(a_clock_set_under_a_server_does_not_count_after_its_restart)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;

    wall_ms = START_MS + 60000;
    put_interrupted(write, "running");
    put_impatient(write);
    store_it(fixture, write);
    start(&world, fixture);
    await_a_look_at_all_runs(&world);
    wall_ms += 3 * DAY_MS;
    pass(&world, 100);
    while (true) {
        json_t *events = events_of(fixture, "run1");
        const char *last =
            json_get_str(json_array_get(events, json_array_size(events) - 1), "text", "");
        bool is_told = strstr(last, "the server's clock was set forward by ") != NULL;

        json_decref(events);
        if (is_told)
            break;
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    stop(&world);
    assert_goes_on_after_a_restart(fixture);
}

TEST(what_a_run_had_taken_counts_after_a_restart)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;

    put_interrupted(write, "running");
    /* 50 s by its log, and 551 since. */
    put_row(write, START_MS + 51000 + 551000, 1, 1, 0, 1.0, 0);
    put_impatient(write);
    store_it(fixture, write);
    wall_ms = START_MS;
    start(&world, fixture);
    await_a_look_at_all_runs(&world);
    assert_true(is_timed_out(&world));
    stop(&world);
}

TEST(cases_that_have_not_begun_are_made_when_they_are_asked_for)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct world world;
    json_t *doc;

    wall_ms = START_MS;
    put_run(write, "run1", "queued",
            "{\"nodes\":[],\"cases\":[],"
            "\"spec\":{\"matrix\":{\"NCCL_ALGO\":[\"Ring\",null]},\"repeats\":2}}");
    put_event(write, "run1", START_MS, "state", "{\"state\":\"queued\"}");
    store_it(fixture, write);
    start(&world, fixture);
    doc = shown(&world, "run1");
    assert_int_equal(json_array_size(json_object_get(doc, "cases")), 4);
    assert_string_equal(
        json_get_str(json_object_get(case_at(doc, 0), "env"), "NCCL_ALGO", ""), "Ring");
    assert_int_equal(json_get_int(case_at(doc, 3), "repeat", -1), 1);
    json_decref(doc);
    stop(&world);
}

/* A mark that turns the direction of writing was accepted once. */
TEST(a_run_whose_spec_is_not_valid_any_more_ends)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    struct heard heard = {0};
    struct world world;

    wall_ms = START_MS + 60000;
    put_run(write, "run1", "queued",
            "{\"nodes\":[],\"cases\":[],\"labels\":{\"a\":\"x\\u202ey\"},"
            "\"spec\":{\"labels\":{\"a\":\"x\\u202ey\"}}}");
    put_event(write, "run1", START_MS, "state", "{\"state\":\"queued\"}");
    store_it(fixture, write);
    start(&world, fixture);
    assert_false(scheduler_run_is_active(world.scheduler, "run1"));
    restart(&world);
    store_read_run(fixture->store, "run1", on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_string_equal(json_get_str(heard.result, "state", ""), "failed");
    assert_string_equal(json_get_str(heard.result, "reason", ""),
                        "run run1: its stored spec is no longer valid");
    assert_string_equal(json_get_str(heard.result, "ended", ""),
                        "2023-11-14T22:14:20.000Z");
    json_decref(heard.result);
    stop(&world);
}

static int setup(void **state)
{
    wall_ms = START_MS;
    return fixture_setup(state);
}

static int teardown(void **state)
{
    if (running.scheduler)
        stop(&running);
    return fixture_teardown(state);
}

EACH_FIXTURE(setup, teardown);
