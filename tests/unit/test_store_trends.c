/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_trends.c - values of runs are found again over all runs, and so are runs
 * that were accepted as baselines */
#include "tests/unit/store_fixture.h"

#include "common/base/json_util.h"
#include "server/store/store_trends.h"
#include "server/store/store_work.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

#define FIGURE "all_reduce float32 bandwidth"

static void add_run(struct fixture *fixture, const char *id, const char *state,
                    int64_t created_ms)
{
    store_it(fixture, write_of_run(id, state, created_ms));
}

/* A value of a run on nodes "a,b"; its likeness is the given text. */
static json_t *values_of(double value, int64_t created_ms, const char *like)
{
    return json_pack("{s:I, s:b, s:s, s:s, s:i, s:s, s:[{s:s, s:s, s:s, s:i, s:f, s:n,"
                     " s:n, s:f, s:f}]}",
                     "created_ms", (json_int_t)created_ms, "is_whole", 1, "nodes", "a,b",
                     "backend", "host", "world_size", 4, "versions",
                     "{\"ringbench\":\"1\"}", "values", "figure", FIGURE, "like_nodes",
                     like, "like_hardware", "{\"hardware\":1}", "cases", 5, "value",
                     value, "low", "high", "least", value * 0.9, "most", value * 1.1);
}

static void add_values(struct fixture *fixture, const char *run, json_t *values)
{
    struct store_write *write = store_write_create();

    assert_int_equal(store_write_values(write, run, values), 0);
    json_decref(values);
    store_it(fixture, write);
}

/* Completed runs r000 on, a millisecond apart, whose value is their number. */
static void add_history(struct fixture *fixture, int n)
{
    char id[16];

    for (int i = 0; i < n; i++) {
        snprintf(id, sizeof(id), "r%03d", i);
        add_run(fixture, id, "completed", 100 + i);
        add_values(fixture, id, values_of(i, 100 + i, "{\"like\":1}"));
    }
}

static json_t *due(struct fixture *fixture, const char *run)
{
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *found = store_get_due(db, run, 0, &err);

    sqlite3_close(db);
    assert_non_null(found);
    return found;
}

static void assert_due(struct fixture *fixture, const char *run, const char *expected)
{
    json_t *doc = due(fixture, run);

    if (expected)
        assert_string_equal(json_get_str(doc, "id", "none"), expected);
    else
        assert_true(json_is_null(doc));
    json_decref(doc);
}

/* The newest first; none twice, and none that goes on. */
TEST(ended_runs_are_due_until_their_values_are_there)
{
    struct fixture *fixture = *state;

    add_run(fixture, "run1", "running", 1);
    assert_due(fixture, NULL, NULL);
    add_run(fixture, "run1", "completed", 1);
    add_run(fixture, "run2", "failed", 2);
    assert_due(fixture, NULL, "run2");
    assert_due(fixture, "run1", "run1");
    add_values(fixture, "run2", values_of(1, 2, "{}"));
    assert_due(fixture, "run2", NULL);
    add_run(fixture, "run2", "failed", 2);
    assert_due(fixture, NULL, "run1");
    fixture_close(fixture);
    fixture_open(fixture);
    assert_due(fixture, NULL, "run1");
}

/* What the server finds at its next start. */
static void reopen_with(struct fixture *fixture, const char *sql)
{
    fixture_close(fixture);
    change_database(fixture, sql);
    fixture_open(fixture);
}

/* Where values were made in another way. */
TEST(runs_of_older_servers_are_due)
{
    struct fixture *fixture = *state;

    add_run(fixture, "run1", "completed", 1);
    add_values(fixture, "run1", values_of(1, 1, "{}"));
    reopen_with(fixture, "UPDATE values_version SET version = 0");
    assert_due(fixture, NULL, "run1");
    add_values(fixture, "run1", values_of(1, 1, "{}"));
    fixture_close(fixture);
    fixture_open(fixture);
    assert_due(fixture, NULL, NULL);
}

static json_t *ask(struct fixture *fixture, const struct store_trends_query *query,
                   enum error_code expected)
{
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *found = store_get_trends(db, query, &err);

    sqlite3_close(db);
    assert_int_equal(found ? ERROR_NONE : err.code, expected);
    return found;
}

static const struct store_trends_query plain = {.figure = FIGURE, .limit = 3};

TEST(pages_of_a_trend_hold_every_value_once)
{
    struct fixture *fixture = *state;
    struct store_trends_query query = plain;
    json_t *page = NULL;
    int expected = 9;

    add_history(fixture, 10);
    do {
        json_t *next, *point;
        size_t i;

        query.cursor = json_get_str(page, "next", NULL);
        next = ask(fixture, &query, ERROR_NONE);
        json_array_foreach (json_object_get(next, "points"), i, point) {
            assert_int_equal((int)json_get_num(point, "value", -1), expected--);
            assert_int_equal(json_get_int(point, "cases", 0), 5);
        }
        assert_int_equal(json_array_size(json_object_get(next, "window")), 10);
        json_decref(page);
        page = next;
    } while (json_is_string(json_object_get(page, "next")));
    assert_int_equal(expected, -1);
    json_decref(page);
}

/* It is shown, but no change is looked for in it. */
TEST(run_that_did_not_complete_is_a_point_outside_the_window)
{
    struct fixture *fixture = *state;
    json_t *values = values_of(99, 500, "{\"like\":1}"), *page;

    add_history(fixture, 2);
    json_object_set_new(values, "is_whole", json_false());
    add_run(fixture, "s001", "failed", 500);
    add_values(fixture, "s001", values);
    page = ask(fixture, &plain, ERROR_NONE);
    assert_int_equal(json_array_size(json_object_get(page, "points")), 3);
    assert_int_equal(json_array_size(json_object_get(page, "window")), 2);
    json_decref(page);
}

static size_t count(struct fixture *fixture, const struct store_trends_query *query)
{
    json_t *page = ask(fixture, query, ERROR_NONE);
    size_t n = json_array_size(json_object_get(page, "window"));

    assert_int_equal(n, json_array_size(json_object_get(page, "points")));
    json_decref(page);
    return n;
}

TEST(filters_and_likeness_choose_among_values)
{
    struct fixture *fixture = *state;
    struct store_trends_query query = {.figure = FIGURE, .limit = 100};

    add_history(fixture, 5);
    add_run(fixture, "s001", "completed", 1000);
    add_values(fixture, "s001", values_of(1, 1000, "{\"like\":2}"));
    assert_int_equal(count(fixture, &query), 6);
    query.nodes = "a,b";
    query.backend = "host";
    query.world_size = 4;
    assert_int_equal(count(fixture, &query), 6);
    query.like = "s001";
    assert_int_equal(count(fixture, &query), 1);
    query.like = "r001";
    assert_int_equal(count(fixture, &query), 5);
    query.likeness = LIKE_HARDWARE;
    assert_int_equal(count(fixture, &query), 6);
    query.like = NULL;
    query.nodes = "a,c";
    assert_int_equal(count(fixture, &query), 0);
    query.nodes = NULL;
    query.world_size = 8;
    assert_int_equal(count(fixture, &query), 0);
    query.figure = "none";
    assert_int_equal(count(fixture, &query), 0);
    query.like = "nobody";
    json_decref(ask(fixture, &query, ERROR_NOT_FOUND));
    query.like = NULL;
    query.cursor = "nonsense";
    json_decref(ask(fixture, &query, ERROR_INVALID));
}

/* Values are 0 to 9 of the frequent line, and 77, the oldest, of the other. */
TEST(frequent_runs_do_not_crowd_out_rare_ones)
{
    struct fixture *fixture = *state;
    struct store_trends_query query = {.figure = FIGURE, .limit = 4};
    static const double expected[] = {9, 8, 77};
    json_t *page;

    add_run(fixture, "s001", "completed", 1);
    add_values(fixture, "s001", values_of(77, 1, "{\"like\":2}"));
    add_history(fixture, 10);
    page = ask(fixture, &query, ERROR_NONE);
    assert_int_equal(json_array_size(json_object_get(page, "points")), 4);
    assert_true(json_is_string(json_object_get(page, "next")));
    json_decref(page);
    query.per_line = 2;
    page = ask(fixture, &query, ERROR_NONE);
    assert_int_equal(json_array_size(json_object_get(page, "points")), 3);
    for (size_t i = 0; i < 3; i++)
        assert_float_equal(
            json_get_num(json_array_get(json_object_get(page, "points"), i), "value", -1),
            expected[i], 0);
    assert_int_equal(json_array_size(json_object_get(page, "window")), 11);
    json_decref(page);
}

TEST(date_range_bounds_points_and_window)
{
    struct fixture *fixture = *state;
    struct store_trends_query query = {.figure = FIGURE, .limit = 100};

    for (int i = 1; i <= 5; i++) {
        char id[] = {'d', (char)('0' + i), '\0'};

        add_run(fixture, id, "completed", i * 1000);
        add_values(fixture, id, values_of(i, i * 1000, "{\"like\":1}"));
    }
    query.since_ms = 2000;
    assert_int_equal(count(fixture, &query), 4);
    query.until_ms = 5000;
    assert_int_equal(count(fixture, &query), 3);
}

/* Once more: in the place of the others, and gone with the run. */
TEST(values_go_with_their_run)
{
    struct fixture *fixture = *state;
    struct store_trends_query query = {.figure = FIGURE, .limit = 100};
    struct store_write *write = store_write_create();

    add_history(fixture, 3);
    add_values(fixture, "r001", values_of(17, 101, "{\"like\":3}"));
    assert_int_equal(count(fixture, &query), 3);
    store_write_delete(write, "r001");
    store_it(fixture, write);
    assert_int_equal(count(fixture, &query), 2);
}

/* ---- Baselines ---- */

static struct store_baseline accept_of(const char *id, const char *run)
{
    return (struct store_baseline){.id = id,
                                   .run = run,
                                   .by = "ann",
                                   .why = "new switch",
                                   .peer = "127.0.0.1",
                                   .time_ms = 5000};
}

static enum error_code submit(struct fixture *fixture, struct store_write *write)
{
    struct heard heard = {0};

    store_submit(fixture->store, write, false, on_written, &heard);
    wait_for(fixture, &heard, 1);
    return heard.err.code;
}

static enum error_code change(struct fixture *fixture, struct store_baseline baseline,
                              bool is_end)
{
    struct store_write *write = store_write_create();

    if (is_end)
        store_write_baseline_end(write, &baseline);
    else
        store_write_baseline(write, &baseline);
    return submit(fixture, write);
}

static size_t listed(struct fixture *fixture, bool has_removed, json_t **first)
{
    json_t *params = json_pack("{s:b, s:i}", "removed", (int)has_removed, "limit", 10);
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *found = store_get_baselines(db, params, &err);
    const json_t *list = json_object_get(found, "baselines");
    size_t n = json_array_size(list);

    sqlite3_close(db);
    if (first)
        *first = json_incref(json_array_get(list, 0));
    json_decref(found);
    return n;
}

TEST(baseline_is_kept_with_who_and_why)
{
    struct fixture *fixture = *state;
    struct store_write *write;
    json_t *first;

    add_history(fixture, 2);
    assert_int_equal(change(fixture, accept_of("b1", "nobody"), false), ERROR_NOT_FOUND);
    assert_int_equal(change(fixture, accept_of("b1", "r000"), false), ERROR_NONE);
    write = store_write_create();
    store_write_delete(write, "r000");
    assert_int_equal(submit(fixture, write), ERROR_CONFLICT);
    assert_int_equal(listed(fixture, false, &first), 1);
    assert_string_equal(json_get_str(first, "by", ""), "ann");
    assert_string_equal(json_get_str(first, "why", ""), "new switch");
    assert_string_equal(json_get_str(first, "accepted", ""), "1970-01-01T00:00:05.000Z");
    assert_true(json_is_null(json_object_get(first, "removed")));
    json_decref(first);
    assert_int_equal(change(fixture, accept_of("b1", NULL), true), ERROR_NONE);
    assert_int_equal(change(fixture, accept_of("b1", NULL), true), ERROR_CONFLICT);
    assert_int_equal(listed(fixture, false, NULL), 0);
    write = store_write_create();
    store_write_delete(write, "r000");
    assert_int_equal(submit(fixture, write), ERROR_NONE);
    assert_int_equal(listed(fixture, true, &first), 1);
    assert_string_equal(json_get_str(json_object_get(first, "removed"), "why", ""),
                        "new switch");
    json_decref(first);
}

static void put_ids(const json_t *list, char *out, size_t size)
{
    json_t *run;
    size_t i;

    json_array_foreach (list, i, run)
        snprintf(out + strlen(out), size - strlen(out), "%s ", json_string_value(run));
}

static json_t *base_of(struct fixture *fixture, const struct store_base_query *query)
{
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *base = store_get_base(db, query, &err);

    sqlite3_close(db);
    assert_non_null(base);
    return base;
}

/* The runs that one is compared with, by their ids in a row, and behind "| " their
 * history. */
static void assert_base(struct fixture *fixture, struct store_base_query query,
                        const char *expected)
{
    json_t *found = base_of(fixture, &query);
    char ids[200] = "";

    put_ids(json_object_get(found, "runs"), ids, sizeof(ids));
    if (json_array_size(json_object_get(found, "history")) > 0)
        snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "| ");
    put_ids(json_object_get(found, "history"), ids, sizeof(ids));
    assert_string_equal(ids, expected);
    json_decref(found);
}

/* Of a run whose values are not stored yet: runs of its own series, and itself. */
TEST(base_has_the_series_of_given_values)
{
    struct fixture *fixture = *state;
    struct store_base_query query = {.run = "r004", .last = 2};
    json_t *base;
    const json_t *series, *runs;
    char ids[32] = "";

    add_history(fixture, 4);
    add_run(fixture, "r004", "running", 104);
    add_run(fixture, "r005", "completed", 105);
    add_values(fixture, "r005", values_of(5, 105, "{\"like\":1}"));
    query.values = values_of(4, 104, "{\"like\":1}");
    add_run(fixture, "s001", "completed", 103);
    add_values(fixture, "s001", values_of(1, 103, "{\"like\":2}"));
    base = base_of(fixture, &query);
    series = json_object_get(base, "series");
    assert_int_equal(json_array_size(series), 1);
    assert_string_equal(json_get_str(json_array_get(series, 0), "figure", ""), FIGURE);
    runs = json_object_get(json_array_get(series, 0), "runs");
    assert_int_equal(json_array_size(runs), 4); /* r000 has the value 0 */
    for (size_t i = 0; i < 4; i++) {
        const json_t *run = json_array_get(runs, i);
        char id[16];

        snprintf(id, sizeof(id), "r%03zu", i + 1);
        assert_string_equal(json_string_value(json_array_get(run, 0)), id);
        assert_int_equal((int)json_number_value(json_array_get(run, 1)), i + 1);
    }
    put_ids(json_object_get(base, "runs"), ids, sizeof(ids));
    assert_string_equal(ids, "r003 r002 ");
    json_decref(query.values);
    json_decref(base);
}

TEST(run_is_held_against_what_it_is_like)
{
    struct fixture *fixture = *state;
    struct store_baseline hardware = accept_of("b3", "s001");

    add_history(fixture, 6);
    add_run(fixture, "s001", "completed", 1000);
    add_values(fixture, "s001", values_of(1, 1000, "{\"like\":2}"));
    assert_base(fixture, (struct store_base_query){.run = "r005", .last = 2},
                "r004 r003 ");
    assert_base(fixture, (struct store_base_query){.run = "r001", .last = 5}, "r000 ");
    assert_base(fixture, (struct store_base_query){.run = "s001", .last = 5}, "");
    assert_base(
        fixture,
        (struct store_base_query){.run = "s001", .last = 2, .likeness = LIKE_HARDWARE},
        "r005 r004 ");
    assert_base(fixture, (struct store_base_query){.run = "r005"}, "");
    assert_base(fixture, (struct store_base_query){.run = "r005", .base = "r002"},
                "r002 | r004 r003 r001 r000 ");
    change(fixture, accept_of("b1", "r001"), false);
    assert_base(fixture, (struct store_base_query){.run = "r005"},
                "r001 | r004 r003 r002 r000 ");
    assert_base(fixture, (struct store_base_query){.run = "r001"}, "");
    /* A window begins with what was accepted, and those before only scatter. */
    assert_base(fixture, (struct store_base_query){.run = "r003", .last = 9},
                "r002 r001 | r000 ");
    /* They are a group of their own, so they are one more than the window has room for.
     */
    assert_base(fixture, (struct store_base_query){.run = "r004", .last = 4},
                "r003 r002 r001 | r000 ");
    assert_base(fixture, (struct store_base_query){.run = "s001"}, "");
    hardware.likeness = LIKE_HARDWARE;
    hardware.time_ms = 6000;
    change(fixture, hardware, false);
    assert_base(fixture, (struct store_base_query){.run = "r005"},
                "s001 | r004 r003 r002 r001 r000 ");
}

/* Ids of one second are in no order. */
TEST(an_accepted_run_is_earlier_by_its_time)
{
    struct fixture *fixture = *state;

    add_history(fixture, 6);
    add_run(fixture, "z001", "completed", 103);
    add_values(fixture, "z001", values_of(1, 103, "{\"like\":1}"));
    change(fixture, accept_of("b1", "z001"), false);
    assert_base(fixture, (struct store_base_query){.run = "r005", .last = 3},
                "r004 z001 | r003 r002 ");
    assert_base(fixture, (struct store_base_query){.run = "r003", .last = 2},
                "r002 r001 ");
}

static void add_failed(struct fixture *fixture, const char *id, int64_t created_ms)
{
    json_t *doc = json_pack("{s:s, s:s, s:[{s:s, s:s}]}", "id", id, "state", "completed",
                            "verdicts", "kind", "gate", "answer", "fail");
    struct store_write *write = store_write_create();

    store_write_run(write, id, "completed", "", created_ms, NULL, doc);
    json_decref(doc);
    store_it(fixture, write);
    add_values(fixture, id, values_of(0, created_ms, "{\"like\":1}"));
}

TEST(run_whose_gate_failed_is_usual_only_once_it_is_accepted)
{
    struct fixture *fixture = *state;

    add_history(fixture, 3);
    add_failed(fixture, "r003", 103);
    add_run(fixture, "r004", "completed", 104);
    add_values(fixture, "r004", values_of(4, 104, "{\"like\":1}"));
    assert_base(fixture, (struct store_base_query){.run = "r004", .last = 5},
                "r002 r001 r000 ");
    change(fixture, accept_of("b1", "r003"), false);
    assert_base(fixture, (struct store_base_query){.run = "r004", .last = 5},
                "r003 | r002 r001 r000 ");
    assert_base(fixture, (struct store_base_query){.run = "r004"},
                "r003 | r002 r001 r000 ");
}
