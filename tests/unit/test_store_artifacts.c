/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_artifacts.c - texts of runs: each once, as long as a run has it */
#include "tests/unit/store_fixture.h"

#include "server/store/store_artifacts.h"
#include "tests/unit/test.h"

EACH_FIXTURE(fixture_setup, fixture_teardown);

static void add(struct fixture *fixture, const char *run, const char *name,
                const char *text)
{
    struct store_write *write = write_of_run(run, "completed", 1000);
    const struct store_artifact item = {
        .run = run, .node = "n", .name = name, .digest = text, .text = text};

    assert_int_equal(store_write_artifact(write, &item), 0);
    store_it(fixture, write);
}

/* How many texts there are in all, by the file itself. */
static int texts(const struct fixture *fixture)
{
    sqlite3_stmt *stmt;
    char path[128];
    sqlite3 *db;
    int n;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT count(*) FROM contents", -1, &stmt, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    n = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

/* Artifacts of the run "a". */
static size_t listed(struct fixture *fixture)
{
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *list = store_get_artifacts(db, "a", NULL, 0, 10, &err);
    size_t n = json_array_size(json_object_get(list, "artifacts"));

    assert_non_null(list);
    json_decref(list);
    sqlite3_close(db);
    return n;
}

TEST(a_text_is_there_once_until_its_last_run_is_deleted)
{
    struct store_write *first = store_write_create(), *second = store_write_create();
    const struct store_artifact_key key = {.run = "b", .digest = "same"};
    struct fixture *fixture = *state;
    sqlite3 *db = fixture_reader(fixture);
    struct error err;
    json_t *found;

    add(fixture, "a", "x.xml", "same");
    add(fixture, "b", "x.xml", "same");
    assert_int_equal(texts(fixture), 1);
    store_write_delete(first, "a");
    store_it(fixture, first);
    assert_int_equal(texts(fixture), 1);
    found = store_get_texts(db, &key, 1, &err);
    assert_int_equal(json_array_size(found), 1);
    json_decref(found);
    store_write_delete(second, "b");
    store_it(fixture, second);
    assert_int_equal(texts(fixture), 0);
    assert_null(store_get_texts(db, &key, 1, &err));
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    sqlite3_close(db);
}

/* Named by its digest, as one that was written before. */
TEST(a_text_that_is_gone_is_not_named)
{
    struct store_write *write = write_of_run("a", "completed", 1000);
    const struct store_artifact item = {
        .run = "a", .node = "n", .name = "x", .digest = "gone"};
    struct fixture *fixture = *state;

    store_write_artifact(write, &item);
    store_it(fixture, write);
    assert_int_equal(listed(fixture), 0);
}

/* Its node may still be there, and names it for its next run. */
TEST(an_inventory_stays_while_the_server_runs)
{
    struct store_write *write = store_write_create();
    struct fixture *fixture = *state;

    add(fixture, "a", STORE_INVENTORY, "text");
    store_write_delete(write, "a");
    store_it(fixture, write);
    assert_int_equal(texts(fixture), 1);
    fixture_close(fixture);
    fixture_open(fixture);
    assert_int_equal(texts(fixture), 0);
}

TEST(what_a_case_sends_again_takes_the_place_of_the_first)
{
    struct fixture *fixture = *state;

    add(fixture, "a", "x.xml", "one");
    add(fixture, "a", "x.xml", "two");
    assert_int_equal(texts(fixture), 1);
    assert_int_equal(listed(fixture), 1);
}
