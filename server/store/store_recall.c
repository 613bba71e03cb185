/* store_recall.c - what a server that starts takes up of the runs that have not ended */
#include "server/store/store_recall.h"

#include <sqlite3.h>

#include "server/store/run_doc.h"
#include "server/store/store_results.h"
#include "server/store/store_sql.h"

enum { SQL_RUNS, SQL_SAID, SQL_ROWS, SQL_COUNT };

/* Quotes within a text of JSON are escaped, so that the pattern finds the state alone. */
static const char *const statements[SQL_COUNT] = {
    [SQL_RUNS] = "SELECT doc, coalesce((SELECT max(id) FROM events WHERE run = runs.id),"
                 " 0), coalesce((SELECT time_ms FROM events WHERE run = runs.id"
                 " ORDER BY id DESC LIMIT 1), 0) FROM runs"
                 " WHERE state NOT IN ('completed', 'failed', 'cancelled')"
                 " ORDER BY created_ms, id",
    [SQL_SAID] = ("SELECT time_ms, body, type FROM events INDEXED BY events_but_results"
                  " WHERE run = ?1 AND type <> 'result' AND id >"
                  " (SELECT id FROM events INDEXED BY events_but_results WHERE run = ?1"
                  "  AND type <> 'result' AND type = ?2 AND body LIKE ?3"
                  "  ORDER BY id DESC LIMIT 1)"
                  " AND instr(' ' || ?4 || ' ', ' ' || type || ' ') ORDER BY id"),
    [SQL_ROWS] = "SELECT time_ms, body, type FROM events WHERE run = ?1"
                 " AND type = 'result' AND id >= ?2 ORDER BY id LIMIT ?3",
};

struct store_recall {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
};

static int take_runs(struct store_recall *recall, store_unfinished_taker *take, void *arg,
                     struct error *err)
{
    sqlite3_stmt *stmt = recall->stmts[SQL_RUNS];
    int rc, taken = 0;

    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        json_t *doc = run_doc_read(stmt, 0, err);
        struct store_unfinished run = {.doc = doc,
                                       .head = sqlite3_column_int64(stmt, 1),
                                       .head_ms = sqlite3_column_int64(stmt, 2)};

        if (!doc) {
            err->code = ERROR_IO;
            return error_prefix(err, "the document of a run that has not ended");
        }
        taken = take(arg, recall, &run, err);
        json_decref(doc);
        if (taken)
            return -1;
    }
    return rc == SQLITE_DONE ? 0 : store_sql_error(err, recall->db, "cannot read");
}

static int take_events(struct store_recall *recall, int which, store_event_taker *take,
                       void *arg, struct error *err)
{
    sqlite3_stmt *stmt = recall->stmts[which];
    int rc;

    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
        json_t *body = store_sql_json(stmt, 1, NULL);

        if (body)
            take(arg, sqlite3_column_int64(stmt, 0),
                 (const char *)sqlite3_column_text(stmt, 2), body);
        json_decref(body);
    }
    if (rc != SQLITE_DONE)
        store_sql_error(err, recall->db, "cannot read");
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : -1;
}

int store_recall_said(struct store_recall *recall, const struct store_said *said,
                      store_event_taker *take, void *arg, struct error *err)
{
    sqlite3_stmt *stmt = recall->stmts[SQL_SAID];

    store_sql_bind_text(stmt, 1, said->run);
    store_sql_bind_text(stmt, 2, said->has_rounds ? "plan" : "case");
    store_sql_bind_text(stmt, 3, said->has_rounds ? "%" : "%\"state\":\"rendezvous\"%");
    store_sql_bind_text(stmt, 4, said->types);
    return take_events(recall, SQL_SAID, take, arg, err);
}

int store_recall_rows(struct store_recall *recall, const char *run, int64_t from,
                      int limit, store_event_taker *take, void *arg, struct error *err)
{
    sqlite3_stmt *stmt = recall->stmts[SQL_ROWS];

    store_sql_bind_text(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, from);
    sqlite3_bind_int(stmt, 3, limit);
    return take_events(recall, SQL_ROWS, take, arg, err);
}

int store_recall_results(struct store_recall *recall, const char *run,
                         store_result_taker *take, void *arg, struct error *err)
{
    return records_each(recall->db, run, take, arg, err);
}

int store_recall_from(const char *path, store_unfinished_taker *take, void *arg,
                      struct error *err)
{
    struct store_recall recall = {.db = NULL};
    int result;

    if (store_sql_open(path, &recall.db, err) < 0)
        return -1;
    result = store_sql_prepare(recall.db, statements, SQL_COUNT, recall.stmts, err);
    if (!result)
        result = take_runs(&recall, take, arg, err);
    store_sql_finalize(recall.stmts, SQL_COUNT);
    sqlite3_close(recall.db);
    return result;
}

static json_t *read_docs(sqlite3 *db, sqlite3_stmt *stmt, struct error *err)
{
    json_t *docs = json_array(), *doc = docs;
    int rc;

    for (rc = sqlite3_step(stmt); rc == SQLITE_ROW && doc; rc = sqlite3_step(stmt)) {
        doc = store_sql_json(stmt, 0, err);
        json_array_append_new(docs, doc);
    }
    if (doc && rc == SQLITE_DONE)
        return docs;
    if (doc)
        store_sql_error(err, db, "cannot read");
    json_decref(docs);
    return NULL;
}

json_t *store_recall_docs(const char *path, const char *sql, int limit, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;
    json_t *docs = NULL;

    if (store_sql_open(path, &db, err) == 0 &&
        store_sql_prepare(db, &sql, 1, &stmt, err) == 0) {
        sqlite3_bind_int(stmt, 1, limit);
        docs = read_docs(db, stmt, err);
    }
    store_sql_finalize(&stmt, 1);
    sqlite3_close(db);
    return docs;
}
