/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.h - a store in a folder of its own, and callbacks that can be waited for
 */
#ifndef RINGBENCH_TESTS_UNIT_STORE_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_STORE_FIXTURE_H

#include <sqlite3.h>

#include "common/base/json_util.h"
#include "server/store/store.h"
#include "server/store/store_sql.h"
#include "server/store/store_work.h"
#include "tests/unit/event_fixture.h"
#include "tests/unit/store_reads.h"
#include "tests/unit/test.h"

/* In a store_rows_query: rows of any case, series, group, rank and size. */
#define ANY_ROW                                                                          \
    .case_no = -1, .series = -1, .group = -1, .row = -1, .rank = -1, .size = -1

struct fixture {
    uv_loop_t loop;
    char dir[64];
    struct store *store;
};

/* Behind the store's back. */
static inline void change_database(const struct fixture *fixture, const char *sql)
{
    char path[128], *message = NULL;
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

/* A connection to the database, as the store's threads of reads have it. */
static inline sqlite3 *fixture_reader(const struct fixture *fixture)
{
    struct error err;
    char path[128];
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/ringbench.db", fixture->dir);
    if (store_sql_open(path, &db, &err))
        fail_msg("%s", err.text);
    return db;
}

/* What a callback heard. */
struct heard {
    int calls;
    struct error err;
    json_t *result;
    struct store_events *page;
    int64_t ids[64];
    size_t n_ids;
    int *order; /* takes the number of the call among all that share it */
    int turn;
};

static inline void fixture_open(struct fixture *fixture)
{
    struct error err = {ERROR_NONE, ""};

    fixture->store = store_open(&fixture->loop, fixture->dir, &err);
    if (!fixture->store)
        fail_msg("store_open: %s", err.text);
}

static inline void fixture_mark_closed(void *arg)
{
    *(bool *)arg = true;
}

static inline void fixture_close(struct fixture *fixture)
{
    bool is_closed = false;

    store_close(fixture->store, fixture_mark_closed, &is_closed);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_true(is_closed);
    fixture->store = NULL;
}

static inline int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    strcpy(fixture->dir, "/tmp/ringbench-store-XXXXXX");
    if (!mkdtemp(fixture->dir))
        return -1;
    uv_loop_init(&fixture->loop);
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[128];

    if (fixture->store)
        fixture_close(fixture);
    uv_loop_close(&fixture->loop);
    snprintf(command, sizeof(command), "rm -rf '%s'", fixture->dir);
    free(fixture);
    return system(command);
}

static inline void on_written(void *arg, const struct error *err,
                              const struct store_event *events, size_t n_events)
{
    struct heard *heard = arg;

    heard->calls++;
    if (err)
        heard->err = *err;
    if (heard->order)
        heard->turn = ++*heard->order;
    for (size_t i = 0; i < n_events && heard->n_ids < 64; i++)
        heard->ids[heard->n_ids++] = events[i].id;
}

static inline void on_read(void *arg, const struct error *err, json_t *result)
{
    struct heard *heard = arg;

    heard->calls++;
    if (err)
        heard->err = *err;
    json_decref(heard->result);
    heard->result = result;
}

static inline void on_page(void *arg, const struct error *err, struct store_events *page)
{
    struct heard *heard = arg;

    heard->calls++;
    if (err)
        heard->err = *err;
    store_events_destroy(heard->page);
    heard->page = page;
}

static inline void on_worked(void *arg, const struct error *err)
{
    struct heard *heard = arg;

    heard->calls++;
    if (err)
        heard->err = *err;
}

static inline void wait_for(struct fixture *fixture, const struct heard *heard, int calls)
{
    while (heard->calls < calls)
        uv_run(&fixture->loop, UV_RUN_ONCE);
}

/* A write with a run's row in it. */
static inline struct store_write *write_of_run(const char *id, const char *state,
                                               int64_t created_ms)
{
    struct store_write *write = store_write_create();
    json_t *doc = json_pack("{s:s, s:s}", "id", id, "state", state);

    assert_int_equal(store_write_run(write, id, state, id, created_ms, NULL, doc), 0);
    json_decref(doc);
    return write;
}

static inline void add_event(struct store_write *write, const char *run, int number)
{
    json_t *body = json_pack("{s:i}", "number", number);

    assert_int_equal(store_write_event(write, run, 1000 + number, "result", body), 0);
    json_decref(body);
}

/* Submit and wait; fails the test unless it was stored. */
static inline void store_it(struct fixture *fixture, struct store_write *write)
{
    struct heard heard = {0};

    store_submit(fixture->store, write, false, on_written, &heard);
    wait_for(fixture, &heard, 1);
    if (heard.err.code)
        fail_msg("write: %s", heard.err.text);
}

static inline int64_t acked(const struct fixture *fixture, const char *boot_id)
{
    struct error err;
    int64_t seq;

    assert_int_equal(store_acked(fixture->store, boot_id, &seq, &err), 0);
    return seq;
}

/* Every event of a run; a new array. */
static inline json_t *events_of(struct fixture *fixture, const char *run)
{
    struct heard heard = {0};

    store_read_events(fixture->store, run, 0, NULL, 1000000, on_page, &heard);
    wait_for(fixture, &heard, 1);
    assert_int_equal(heard.err.code, ERROR_NONE);
    return events_json(heard.page);
}

#endif
