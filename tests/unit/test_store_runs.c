/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_runs.c - the list of runs: its order, its pages, how many there are, and
 * that each question is answered from an index */
#include "server/finding/verdict.h"
#include "server/store/runs_read.h"
#include "tests/unit/store_fixture.h"
#include "server/store/store_write.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

/* A run that took so long and has this figure; NULL: none. */
static void store_run(struct fixture *fixture, const char *id, int64_t created_ms,
                      const char *ended, const char *headline)
{
    struct store_write *write = store_write_create();
    json_t *doc =
        json_pack("{s:s, s:s, s:s?, s:{s:o}}", "id", id, "started",
                  "2026-01-31T23:59:59.500Z", "ended", ended, "summary", "headline",
                  headline ? json_loads(headline, 0, NULL) : json_null());

    store_write_run(write, id, "completed", "", created_ms, NULL, doc);
    json_decref(doc);
    store_it(fixture, write);
}

static void store_some(struct fixture *fixture)
{
    store_run(fixture, "a", 1000, "2026-02-01T00:00:09.500Z", "{\"busbw_gbs\": 9.5}");
    store_run(fixture, "b", 2000, "2026-02-01T00:00:10.500Z", "{\"busbw_gbs\": 10.25}");
    store_run(fixture, "c", 3000, NULL, NULL);
    store_run(fixture, "d", 4000, "2026-02-01T00:00:09.500Z", "{\"value\": 1e4}");
    store_run(fixture, "e", 5000, "2026-01-31T23:59:59.501Z", "{\"busbw_gbs\": 0.5}");
}

/* The ids of all pages, each page's after a bar. */
static void check_pages(struct fixture *fixture, struct store_runs_query query,
                        const char *wanted)
{
    char seen[200] = "", cursor[200] = "";
    struct heard heard = {0};
    int pages = 0;

    do {
        const json_t *runs;

        query.cursor = *cursor ? cursor : NULL;
        store_read_runs(fixture->store, &query, on_read, &heard);
        wait_for(fixture, &heard, ++pages);
        assert_int_equal(heard.err.code, ERROR_NONE);
        runs = json_object_get(heard.result, "runs");
        strcat(seen, pages > 1 ? "|" : "");
        for (size_t i = 0; i < json_array_size(runs); i++)
            strcat(seen,
                   json_string_value(json_object_get(json_array_get(runs, i), "id")));
        snprintf(cursor, sizeof(cursor), "%s",
                 json_is_null(json_object_get(heard.result, "next"))
                     ? ""
                     : json_string_value(json_object_get(heard.result, "next")));
    } while (*cursor);
    assert_string_equal(seen, wanted);
    json_decref(heard.result);
}

TEST(runs_come_in_the_order_that_was_asked_for)
{
    struct fixture *fixture = *state;

    store_some(fixture);
    check_pages(fixture, (struct store_runs_query){.limit = 2}, "ed|cb|a");
    check_pages(fixture, (struct store_runs_query){.limit = 2, .is_rising = true},
                "ab|cd|e");
    check_pages(fixture,
                (struct store_runs_query){.limit = 2, .sort = STORE_RUNS_DURATION},
                "bd|ae");
    check_pages(fixture,
                (struct store_runs_query){
                    .limit = 2, .sort = STORE_RUNS_DURATION, .is_rising = true},
                "ea|db");
    check_pages(fixture, (struct store_runs_query){.limit = 3, .sort = STORE_RUNS_FIGURE},
                "dba|e");
    check_pages(fixture,
                (struct store_runs_query){
                    .limit = 3, .sort = STORE_RUNS_FIGURE, .is_rising = true},
                "eab|d");
    check_pages(fixture,
                (struct store_runs_query){.limit = 3, .since_ms = 2000, .until_ms = 5000},
                "dcb");
}

/* The text that a list shows of the only run. */
static void check_listed(struct fixture *fixture, const json_t *doc, const char *wanted)
{
    struct store_runs_query query = {.limit = 1};
    struct store_write *write = store_write_create();
    struct heard heard = {0};

    store_write_run(write, "a", "completed", "", 1000, NULL, doc);
    store_it(fixture, write);
    store_read_runs(fixture->store, &query, on_read, &heard);
    wait_for(fixture, &heard, 1);
    assert_string_equal(
        json_get_str(json_array_get(json_object_get(heard.result, "runs"), 0), "text",
                     ""),
        wanted);
    json_decref(heard.result);
}

TEST(a_list_shows_a_run_without_what_is_long)
{
    static const char text[] =
        "{\"spec\": {}, \"id\": \"a\", \"cases\": [], \"name\": \"b\", \"machines\": {},"
        " \"elapsed\": {}, \"summary\": {\"wrong\": 0, \"curve\": [[8, 1.5]]},"
        " \"verdicts\": [{\"evidence\": [1], \"kind\": \"gate\", \"answer\": \"pass\"}],"
        " \"eta_s\": null}";
    json_t *doc = json_loads(text, 0, NULL), *whole = json_deep_copy(doc);

    check_listed(
        *state, doc,
        "{\"id\":\"a\",\"name\":\"b\",\"summary\":{\"wrong\":0,\"curve\":[[8,1.5]]},"
        "\"verdicts\":[{\"kind\":\"gate\",\"answer\":\"pass\"}],\"eta_s\":null}");
    assert_true(json_equal(doc, whole));
    json_decref(doc);
    json_decref(whole);
}

TEST(a_list_shows_64_points_of_a_curve)
{
    json_t *curve = json_array(), *doc;
    char wanted[1000] = "{\"summary\":{\"curve\":[0";

    for (int i = 0; i < 127; i++)
        json_array_append_new(curve, json_integer(i));
    for (int i = 1; i < 64; i++)
        sprintf(wanted + strlen(wanted), ",%d", 2 * i);
    strcat(wanted, "]},\"verdicts\":[]}");
    doc = json_pack("{s:{s:o}}", "summary", "curve", curve);
    check_listed(*state, doc, wanted);
    assert_int_equal(json_array_size(curve), 127);
    json_decref(doc);
}

/* A program's figure may be operations a second. */
TEST(the_largest_figures_are_listed)
{
    struct fixture *fixture = *state;

    store_run(fixture, "a", 1000, NULL, "{\"value\": 1e15}");
    store_run(fixture, "b", 2000, NULL, "{\"value\": 1}");
    store_run(fixture, "c", 3000, NULL, "{\"value\": -1e15}");
    check_pages(fixture, (struct store_runs_query){.limit = 1, .sort = STORE_RUNS_FIGURE},
                "a|b|c");
    check_pages(fixture,
                (struct store_runs_query){
                    .limit = 1, .sort = STORE_RUNS_FIGURE, .is_rising = true},
                "c|b|a");
}

static void check_total(struct fixture *fixture, struct store_runs_query query,
                        int64_t runs, bool is_more)
{
    struct heard heard = {0};
    const json_t *total;

    query.has_total = true;
    query.limit = 1;
    store_read_runs(fixture->store, &query, on_read, &heard);
    wait_for(fixture, &heard, 1);
    total = json_object_get(heard.result, "total");
    assert_int_equal(json_integer_value(json_object_get(total, "runs")), runs);
    assert_int_equal(json_is_true(json_object_get(total, "is_more")), is_more);
    json_decref(heard.result);
}

TEST(runs_are_counted_up_to_a_limit)
{
    struct fixture *fixture = *state;
    char id[16];

    store_some(fixture);
    check_total(fixture, (struct store_runs_query){.text = NULL}, 5, false);
    check_total(fixture, (struct store_runs_query){.sort = STORE_RUNS_FIGURE}, 4, false);
    check_total(fixture, (struct store_runs_query){.text = "e", .since_ms = 9000}, 0,
                false);
    for (int i = 0; i < STORE_RUNS_TOTAL_MAX; i++) {
        snprintf(id, sizeof(id), "run%05d", i);
        store_submit(fixture->store, write_of_run(id, "queued", i), false, NULL, NULL);
    }
    store_it(fixture, store_write_create());
    check_total(fixture, (struct store_runs_query){.text = "run"}, STORE_RUNS_TOTAL_MAX,
                false);
    check_total(fixture, (struct store_runs_query){.text = NULL}, STORE_RUNS_TOTAL_MAX,
                true);
}

/* Delete old runs until none has to go; the others, the newest first. */
static void check_left(struct fixture *fixture, int64_t keep, int64_t before_ms,
                       const char *wanted)
{
    const struct store_runs_query all = {.limit = 10};
    struct heard heard = {0}, list = {0};
    json_t *run;
    char seen[64] = "";
    size_t i;

    for (int calls = 1; !heard.err.code; calls++) {
        struct store_write *write = store_write_create();

        store_write_expire(write, keep, before_ms);
        store_submit(fixture->store, write, false, on_written, &heard);
        wait_for(fixture, &heard, calls);
    }
    assert_int_equal(heard.err.code, ERROR_NOT_FOUND);
    store_read_runs(fixture->store, &all, on_read, &list);
    wait_for(fixture, &list, 1);
    json_array_foreach (json_object_get(list.result, "runs"), i, run)
        strcat(seen, json_get_str(run, "id", ""));
    assert_string_equal(seen, wanted);
    json_decref(list.result);
}

TEST(old_are_those_beyond_the_newest_and_before_a_time)
{
    struct fixture *fixture = *state;

    store_some(fixture);
    check_left(fixture, 0, 0, "edcba");
    check_left(fixture, 5, 0, "edcba");
    check_left(fixture, 9, 0, "edcba");
    check_left(fixture, 4, 0, "edcb");
    check_left(fixture, 0, 3000, "edc");
    /* What is under way stays, and counts. */
    store_submit(fixture->store, write_of_run("f", "running", 500), false, NULL, NULL);
    store_submit(fixture->store, write_of_run("g", "running", 6000), false, NULL, NULL);
    store_it(fixture, store_write_create());
    check_left(fixture, 2, 0, "gef");
}

static void check_plan(sqlite3 *db, const struct buf *sql, const char *index)
{
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql->data);
    sqlite3_stmt *stmt = NULL;
    bool has_index = false;

    assert_int_equal(sqlite3_prepare_v2(db, explain, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);

        if (strstr(step, "TEMP B-TREE") || strcmp(step, "SCAN runs") == 0)
            fail_msg("%s: %s", sql->data, step);
        has_index = has_index || (strstr(step, " runs USING ") && strstr(step, index));
    }
    if (!has_index)
        fail_msg("%s: not by %s", sql->data, index);
    sqlite3_finalize(stmt);
    sqlite3_free(explain);
}

TEST(every_list_is_read_from_an_index)
{
    static const char *const filters[] = {
        "{}",
        "{\"state\": [\"failed\", \"cancelled\"]}",
        "{\"label\": [\"k=v\"]}",
        "{\"q\": \"x\"}",
        "{\"node\": \"n1\"}",
        "{\"suspect\": \"n1\"}",
        "{\"judged\": true}",
        "{\"verdict\": [\"fail\", \"preflight:ok\"]}",
        "{\"since\": 1, \"until\": 2}",
        "{\"state\": [\"failed\"], \"label\": [\"k=v\"], \"node\": \"n1\"}"};
    static const char *const indexes[] = {
        "INDEX runs_by_created", "INDEX runs_by_duration", "INDEX runs_by_figure"};
    struct fixture *fixture = *state;
    char path[300];
    struct buf sql;
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    buf_init(&sql, 4096);
    for (size_t i = 0; i < 6 * sizeof(filters) / sizeof(filters[0]); i++) {
        json_t *params = json_loads(filters[i / 6], 0, NULL);

        json_object_set_new(params, "sort", json_integer((json_int_t)i % 3));
        json_object_set_new(params, "order", json_integer(i % 2));
        json_object_set_new(params, "cursor",
                            i % 4 < 2 ? json_null() : json_string("1:x"));
        buf_clear(&sql);
        runs_read_page_sql(params, &sql);
        check_plan(db, &sql, indexes[i % 3]);
        buf_clear(&sql);
        runs_read_total_sql(params, &sql);
        check_plan(db, &sql, indexes[i % 3]);
        json_decref(params);
    }
    buf_release(&sql);
    sqlite3_close(db);
}

static void store_verdict(struct fixture *fixture, const char *id, const char *kind,
                          const char *answer)
{
    struct store_write *write = store_write_create();
    json_t *doc = json_pack("{s:s, s:[{s:s, s:s, s:[s, s]}, {s:s, s:s, s:[]}]}", "id", id,
                            "verdicts", "kind", kind, "answer", answer, "nodes", "n1",
                            "n2", "kind", kind, "answer", answer, "nodes");

    store_write_run(write, id, "completed", "", 1000, NULL, doc);
    json_decref(doc);
    store_it(fixture, write);
}

static void delete_run(struct fixture *fixture, const char *id)
{
    struct store_write *write = store_write_create();

    store_write_delete(write, id);
    store_it(fixture, write);
}

static void check_answer(struct fixture *fixture, const char *answer, const char *wanted)
{
    check_pages(fixture,
                (struct store_runs_query){
                    .answers = &answer, .n_answers = 1, .is_rising = true, .limit = 9},
                wanted);
}

TEST(each_answer_of_each_kind_that_runs_keep_is_found)
{
    struct fixture *fixture = *state;
    int tried = 0;

    for (int kind = 0; kind < VERDICT_KINDS; kind++)
        for (int i = 0; i < VERDICT_ANSWERS; i++) {
            const char *answer = verdict_answer_name((enum verdict_answer)i);
            const char *name = verdict_kind_name((enum verdict_kind)kind);
            char both[100];

            if (!verdict_kind_is_kept((enum verdict_kind)kind) ||
                !verdict_kind_has((enum verdict_kind)kind, (enum verdict_answer)i))
                continue;
            snprintf(both, sizeof(both), "%s:%s", name, answer);
            store_verdict(fixture, "a", "gate", "other");
            store_verdict(fixture, "b", name, answer);
            assert_true(verdict_answer_is_kept(both) && verdict_answer_is_kept(answer));
            check_answer(fixture, both, "b");
            check_answer(fixture, answer, "b");
            delete_run(fixture, "b");
            check_answer(fixture, answer, "");
            tried++;
        }
    assert_in_range(tried, 20, 60);
}

TEST(a_run_is_found_by_its_latest_answer)
{
    struct fixture *fixture = *state;

    store_verdict(fixture, "a", "gate", "not_evaluated");
    store_verdict(fixture, "a", "gate", "fail");
    check_answer(fixture, "not_evaluated", "");
    check_answer(fixture, "gate:fail", "a");
    check_answer(fixture, "lateness:fail", "");
}
