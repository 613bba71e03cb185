/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_pages.c - pages of results, runs of a node, and what became of it */
#include "tests/unit/store_fixture.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

/* Rows 0 to 299 of three cases; events that are none between them. */
static void fill(struct fixture *fixture)
{
    struct store_write *write = write_of_run("run1", "running", 5);

    for (int i = 0; i < 300; i++) {
        json_t *row = json_pack("{s:i, s:i, s:i, s:i, s:i, s:s}", "case", i / 100, "row",
                                i % 100, "series", i % 2, "group", i % 4, "size",
                                (i % 100) * 8, "collective", "all_reduce");

        add_event(write, "run1", i);
        store_write_event(write, "run1", i, "result", row);
        json_decref(row);
    }
    store_it(fixture, write);
}

/* Read all pages; the number of rows, and *first, to be freed: the first of them. */
static size_t read_all(struct fixture *fixture, struct store_rows_query query,
                       size_t *pages, char **first)
{
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    size_t rows = 0;

    query.run = "run1";
    for (*pages = 0; *pages == 0 || query.after > 0; (*pages)++) {
        struct store_events *page = store_read_rows(db, &query, &err);

        assert_non_null(page);
        assert_true(page->n <= (size_t)query.limit);
        rows += page->n;
        if (*pages == 0 && first)
            *first = strdup(page->list[0].body);
        query.after = page->next;
        store_events_destroy(page);
    }
    sqlite3_close(db);
    return rows;
}

TEST(pages_hold_every_row_once)
{
    struct fixture *fixture = *state;
    size_t pages;

    fill(fixture);
    /* Every second result is a row; the others have no size. */
    assert_int_equal(
        read_all(fixture, (struct store_rows_query){ANY_ROW, .limit = 7}, &pages, NULL),
        600);
    assert_int_equal(pages, (600 + 6) / 7);
    assert_int_equal(
        read_all(fixture, (struct store_rows_query){ANY_ROW, .limit = 600}, &pages, NULL),
        600);
    assert_int_equal(pages, 1);
}

/* Rows may have a time of each of very many calls. */
TEST(page_of_long_rows_has_fewer)
{
    struct fixture *fixture = *state;
    struct store_write *write = write_of_run("run1", "running", 5);
    char *text = malloc((size_t)1 << 20);
    size_t pages;

    memset(text, 'x', ((size_t)1 << 20) - 1);
    text[((size_t)1 << 20) - 1] = '\0';
    for (int i = 0; i < 20; i++) {
        json_t *row = json_pack("{s:i, s:i, s:s}", "case", 0, "row", i, "samples", text);

        store_write_event(write, "run1", i, "result", row);
        json_decref(row);
    }
    free(text);
    store_it(fixture, write);
    assert_int_equal(read_all(fixture, (struct store_rows_query){ANY_ROW, .limit = 2000},
                              &pages, NULL),
                     20);
    assert_in_range(pages, 2, 5);
}

TEST(pages_are_filtered)
{
    struct fixture *fixture = *state;
    struct store_rows_query query = {ANY_ROW, .limit = 10};
    char *first = NULL;
    size_t pages;

    fill(fixture);
    query.case_no = 2;
    query.group = 3;
    assert_int_equal(read_all(fixture, query, &pages, &first), 25);
    assert_int_equal(pages, 3);
    assert_non_null(strstr(first, "\"case\":2,\"row\":3,\"series\":1,\"group\":3"));
    free(first);
    query.group = -1;
    query.size = 80;
    assert_int_equal(read_all(fixture, query, &pages, NULL), 1);
    query.size = -1;
    query.row = 99;
    query.series = 0;
    assert_int_equal(read_all(fixture, query, &pages, NULL), 0);
    query.series = 1;
    assert_int_equal(read_all(fixture, query, &pages, NULL), 1);
    query.metric = "loss";
    assert_int_equal(read_all(fixture, query, &pages, NULL), 0);
}

TEST(runs_of_a_node_are_found)
{
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    json_t *doc = json_pack("{s:s, s:[{s:s}, {s:s}]}", "id", "run1", "nodes", "name",
                            "n1", "name", "n2");
    struct heard heard = {0};

    store_write_run(write, "run1", "completed", "", 5, NULL, doc);
    store_write_run(write, "run1", "completed", "", 5, NULL, doc);
    json_decref(doc);
    store_it(fixture, write);
    store_it(fixture, write_of_run("run2", "completed", 6));
    for (int i = 0; i < 3; i++) {
        static const char *const nodes[] = {"n2", "n3", NULL};
        static const size_t wanted[] = {1, 0, 2};
        struct store_runs_query query = {.node = nodes[i], .limit = 10};

        store_read_runs(fixture->store, &query, on_read, &heard);
        wait_for(fixture, &heard, i + 1);
        assert_int_equal(json_array_size(json_object_get(heard.result, "runs")),
                         wanted[i]);
    }
    json_decref(heard.result);
}

TEST(runs_that_name_a_node_are_found)
{
    static const struct {
        struct store_runs_query query;
        size_t wanted;
    } asked[] = {{{.suspect = "n1", .limit = 10}, 1},
                 {{.suspect = "n2", .limit = 10}, 0},
                 {{.is_judged = true, .limit = 10}, 2}};
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    json_t *named = json_pack("{s:s, s:[{s:s, s:s, s:[s]}]}", "id", "run1", "verdicts",
                              "kind", "hang", "answer", "lagging_rank", "nodes", "n1");
    json_t *cleared = json_pack("{s:s, s:[{s:s, s:s, s:[]}]}", "id", "run2", "verdicts",
                                "kind", "culprit", "answer", "none", "nodes");
    json_t *sick = json_pack("{s:s, s:[{s:s, s:s, s:[s]}]}", "id", "run4", "verdicts",
                             "kind", "preflight", "answer", "finding", "nodes", "n2");
    struct heard heard = {0};

    store_write_run(write, "run1", "completed", "", 5, NULL, named);
    store_write_run(write, "run2", "completed", "", 6, NULL, cleared);
    store_write_run(write, "run4", "completed", "", 8, NULL, sick);
    json_decref(sick);
    json_decref(named);
    json_decref(cleared);
    store_it(fixture, write);
    store_it(fixture, write_of_run("run3", "completed", 7));
    for (int i = 0; i < 3; i++) {
        store_read_runs(fixture->store, &asked[i].query, on_read, &heard);
        wait_for(fixture, &heard, i + 1);
        assert_int_equal(json_array_size(json_object_get(heard.result, "runs")),
                         asked[i].wanted);
    }
    json_decref(heard.result);
}

TEST(history_of_a_node_is_kept_short)
{
    const int64_t from_ms = INT64_C(4102444800000); /* in 2100: not old enough to go */
    struct fixture *fixture = *state;
    struct store_write *write = store_write_create();
    const json_t *first;
    struct error err;
    json_t *history;
    sqlite3 *db;

    for (int i = 0; i < STORE_NODE_HISTORY_MAX + 50; i++) {
        store_write_node(write, "n1", from_ms + i, i % 2 ? "lost" : "returned", NULL);
        store_write_node(write, "n2", from_ms + i, "left", "why");
    }
    store_it(fixture, write);
    fixture_close(fixture);
    fixture_open(fixture);
    db = fixture_reader(fixture);
    history = store_get_node(db, "n1", &err);
    sqlite3_close(db);
    assert_int_equal(json_array_size(history), STORE_NODE_HISTORY_MAX);
    first = json_array_get(history, 0);
    assert_string_equal(json_string_value(json_object_get(first, "time")),
                        "2100-01-01T00:00:00.149Z");
    assert_string_equal(json_string_value(json_object_get(first, "state")), "lost");
    assert_true(json_is_null(json_object_get(first, "detail")));
    json_decref(history);
}

static void put_job(struct fixture *fixture, const char *id, int64_t ended_ms,
                    const char *state)
{
    struct store_write *write = store_write_create();
    json_t *doc = json_pack("{s:s, s:s}", "id", id, "state", state);

    store_write_job(write, id, ended_ms, doc);
    json_decref(doc);
    store_it(fixture, write);
}

TEST(jobs_are_loaded_in_order_and_those_that_ended_first_are_forgotten)
{
    struct fixture *fixture = *state;
    struct error err;
    char id[16];
    json_t *jobs;

    put_job(fixture, "b-running", 0, "starting");
    put_job(fixture, "b-running", 0, "running");
    for (int i = 0; i <= STORE_JOBS_ENDED_MAX; i++) {
        snprintf(id, sizeof(id), "c%03d", i);
        put_job(fixture, id, 1000 + i, "ended");
    }
    put_job(fixture, "a-ended", 5000, "ended");
    jobs = store_load_jobs(fixture->store, &err);
    assert_int_equal(json_array_size(jobs), STORE_JOBS_ENDED_MAX + 1);
    assert_string_equal(json_get_str(json_array_get(jobs, 0), "id", ""), "a-ended");
    assert_string_equal(json_get_str(json_array_get(jobs, 1), "state", ""), "running");
    assert_string_equal(json_get_str(json_array_get(jobs, 2), "id", ""), "c002");
    json_decref(jobs);
}
