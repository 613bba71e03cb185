/* SPDX-License-Identifier: Apache-2.0 */
/* store_recall.c - reads runs and their logs when the server starts */
#include "server/store/store_recall.h"

#include <sqlite3.h>

#include "common/base/json_util.h"
#include "server/store/store_results.h"
#include "server/store/store_rows.h"
#include "server/store/store_sql.h"

enum { SQL_RUN, SQL_EVENTS, SQL_BODY, SQL_COUNT };

static const char SQL_IDS[] =
    "SELECT id AS \":text\" FROM runs WHERE :has_ended OR state NOT IN " STORE_SQL_ENDED
    " ORDER BY created_ms, id";

/* SQL: the numbers of cases that are in rendezvous; these cases start again. */
static const char SQL_IN_RENDEZVOUS[] =
    "SELECT number AS \":text\" FROM (SELECT json_extract(body, '$.case') AS number,"
    " json_extract(body, '$.state') AS state, max(id) FROM events"
    " INDEXED BY events_but_results WHERE run = :run AND type <> 'result'"
    " AND type = 'case' AND json_valid(body) GROUP BY number)"
    " WHERE state = 'rendezvous'";

static const char *const statements[SQL_COUNT] = {
    [SQL_RUN] = "SELECT doc, coalesce((SELECT max(id) FROM events WHERE run = ?1), 0),"
                " coalesce((SELECT time_ms FROM events WHERE run = ?1"
                "  ORDER BY id DESC LIMIT 1), 0),"
                " EXISTS (SELECT 1 FROM results WHERE run = ?1) FROM runs WHERE id = ?1",
    [SQL_EVENTS] = "SELECT id, time_ms, type, body FROM events"
                   " INDEXED BY events_but_results WHERE run = ?1 AND type <> 'result'"
                   " AND type <> 'disowned' ORDER BY id",
    [SQL_BODY] = "SELECT body FROM events WHERE run = ?1 AND id = ?2",
};

/* Results are read on a separate connection, which has no other open statement. */
struct store_recall {
    sqlite3 *db, *of_results;
    sqlite3_stmt *stmts[SQL_COUNT];
    bool has_results; /* the current run has results */
};

/* ---- A log ---- */

/* State while one run's log is read. */
struct log_reading {
    struct store_recall *recall;
    const char *run;
    const struct store_log_taker *taker;
    void *arg;
    /* latest return code of the events' statement; SQLITE_ROW if an event is ready */
    int rc;
    json_t *in_rendezvous; /* numbers of the cases that start again */
};

static void pass_event(struct log_reading *reading)
{
    sqlite3_stmt *stmt = reading->recall->stmts[SQL_EVENTS];
    json_t *body = store_sql_json(stmt, 3, NULL);

    if (body)
        reading->taker->event(reading->arg, sqlite3_column_int64(stmt, 1),
                              store_sql_text(stmt, 2), body);
    json_decref(body);
    reading->rc = sqlite3_step(stmt);
}

static void pass_events_before(struct log_reading *reading, int64_t id)
{
    while (reading->rc == SQLITE_ROW &&
           sqlite3_column_int64(reading->recall->stmts[SQL_EVENTS], 0) < id)
        pass_event(reading);
}

static json_t *body_of(const struct log_reading *reading, int64_t id)
{
    sqlite3_stmt *stmt = reading->recall->stmts[SQL_BODY];
    json_t *body = NULL;

    store_sql_bind_text(stmt, 1, reading->run);
    sqlite3_bind_int64(stmt, 2, id);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        body = store_sql_json(stmt, 0, NULL);
    sqlite3_reset(stmt);
    return body;
}

static bool is_in_rendezvous(const struct log_reading *reading, int case_no)
{
    const json_t *number;
    size_t i;

    json_array_foreach (reading->in_rendezvous, i, number)
        if (json_integer_value(number) == case_no)
            return true;
    return false;
}

static void pass_result(void *arg, const struct result_record *record, const json_t *key)
{
    struct log_reading *reading = arg;
    json_t *body;

    if (is_in_rendezvous(reading, record->case_no))
        return;
    pass_events_before(reading, record->event);
    body = record->has_more ? body_of(reading, record->event) : NULL;
    reading->taker->result(reading->arg, record, key, body);
    json_decref(body);
}

/* Thousands of queued runs have events but no results: skip the query for them. */
static int pass_results(struct log_reading *reading, struct error *err)
{
    json_t *params;
    int result = -1;

    if (!reading->recall->has_results)
        return 0;
    params = json_pack("{s:s}", "run", reading->run);
    reading->in_rendezvous =
        store_rows(reading->recall->db, SQL_IN_RENDEZVOUS, params, err);
    if (reading->in_rendezvous)
        result = records_each(reading->recall->of_results, reading->run, pass_result,
                              reading, err);
    json_decref(reading->in_rendezvous);
    json_decref(params);
    return result;
}

int store_recall_log(struct store_recall *recall, const char *run,
                     const struct store_log_taker *taker, void *arg, struct error *err)
{
    struct log_reading reading = {
        .recall = recall, .run = run, .taker = taker, .arg = arg};
    sqlite3_stmt *stmt = recall->stmts[SQL_EVENTS];
    int result;

    store_sql_bind_text(stmt, 1, run);
    reading.rc = sqlite3_step(stmt);
    result = pass_results(&reading, err);
    pass_events_before(&reading, INT64_MAX);
    if (!result && reading.rc != SQLITE_DONE)
        result = store_sql_error(err, recall->db, "cannot read");
    sqlite3_reset(stmt);
    return result;
}

/* ---- Runs ---- */

static int take_run(struct store_recall *recall, const char *id, store_run_taker *take,
                    void *arg, struct error *err)
{
    sqlite3_stmt *stmt = recall->stmts[SQL_RUN];
    struct store_run run = {.doc = NULL};
    json_t *doc = NULL;
    int taken;

    store_sql_bind_text(stmt, 1, id);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        doc = store_sql_json(stmt, 0, err);
        run = (struct store_run){doc, sqlite3_column_int64(stmt, 1),
                                 sqlite3_column_int64(stmt, 2)};
        recall->has_results = sqlite3_column_int(stmt, 3);
    } else {
        store_sql_error(err, recall->db, "cannot read");
    }
    sqlite3_reset(stmt);
    if (!doc) {
        err->code = ERROR_IO;
        return error_prefix(err, "the document of run %s", id);
    }
    taken = take(arg, recall, &run, err);
    json_decref(doc);
    return taken ? -1 : 0;
}

static int take_runs(struct store_recall *recall, bool has_ended, store_run_taker *take,
                     void *arg, struct error *err)
{
    json_t *params = json_pack("{s:b}", "has_ended", has_ended);
    json_t *ids = store_rows(recall->db, SQL_IDS, params, err);
    int result = ids ? 0 : -1;
    const json_t *id;
    size_t i;

    json_array_foreach (ids, i, id)
        if (!result)
            result = take_run(recall, json_string_value(id), take, arg, err);
    json_decref(params);
    json_decref(ids);
    return result;
}

int store_recall_from(const char *path, bool has_ended, store_run_taker *take, void *arg,
                      struct error *err)
{
    struct store_recall recall = {.db = NULL};
    int result;

    result = store_sql_open(path, &recall.db, err);
    if (!result)
        result = store_sql_open(path, &recall.of_results, err);
    if (!result)
        result = store_sql_prepare(recall.db, statements, SQL_COUNT, recall.stmts, err);
    if (!result)
        result = take_runs(&recall, has_ended, take, arg, err);
    store_sql_finalize(recall.stmts, SQL_COUNT);
    sqlite3_close(recall.db);
    sqlite3_close(recall.of_results);
    return result;
}

json_t *store_recall_docs(const char *path, const char *sql, int limit, struct error *err)
{
    json_t *params = json_pack("{s:i}", "limit", limit), *docs = NULL;
    sqlite3 *db = NULL;

    if (!store_sql_open(path, &db, err))
        docs = store_rows(db, sql, params, err);
    sqlite3_close(db);
    json_decref(params);
    return docs;
}
