/* SPDX-License-Identifier: Apache-2.0 */
/* store_sql.c - opens the database file, creates the schema, prepares statements, and
 * reports SQLite's errors */
#include "server/store/store_sql.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/fnv.h"
#include "common/base/json_util.h"
#include "server/store/result_row.h"
#include "server/store/run_packed.h"

#define APPLICATION_ID 0x52424e43         /* "RBNC" */
#define EARLIER_APPLICATION_ID 0x52424348 /* "RBCH" */
#define BUSY_TIMEOUT_MS 5000

/* With synchronous = FULL every commit is durable. SQLite checkpoints the WAL every 1000
 * pages (4 MB), and cuts its file back to 16 MB after a burst. */
static const char SQL_CONNECTION[] = "PRAGMA synchronous = FULL;"
                                     "PRAGMA foreign_keys = ON;"
                                     "PRAGMA temp_store = MEMORY;"
                                     "PRAGMA wal_autocheckpoint = 1000;"
                                     "PRAGMA journal_size_limit = 16777216;";

/* doc and body are the last stored columns, so that a scan of other columns does not read
 * their overflow pages. A list of runs is read from an index; the column `listed` is read
 * only for the rows shown. A figure is stored in millionths, so that all sort orders
 * compare integers. In a row with a damaged document, the computed columns are NULL.
 * Other runs can then still be read, and the damaged one can be deleted. */
#define SQL_RUNS                                                                         \
    "CREATE TABLE runs ("                                                                \
    " id TEXT NOT NULL PRIMARY KEY,"                                                     \
    " state TEXT NOT NULL,"                                                              \
    " name TEXT NOT NULL,"                                                               \
    " created_ms INTEGER NOT NULL,"                                                      \
    " labels TEXT NOT NULL,"                                                             \
    " listed TEXT NOT NULL,"                                                             \
    " doc TEXT NOT NULL,"                                                                \
    " duration_ms INTEGER AS (CASE WHEN json_valid(doc) THEN"                            \
    "  CAST(round(86400000.0 * (julianday(json_extract(doc, '$.ended'))"                 \
    "  - julianday(json_extract(doc, '$.started')))) AS INTEGER) END) VIRTUAL,"          \
    " figure_micro INTEGER AS (CASE WHEN json_valid(doc) THEN"                           \
    "  CAST(round(1e6 * coalesce(json_extract(doc, '$.summary.headline.value'),"         \
    "  json_extract(doc, '$.summary.headline.busbw_gbs'))) AS INTEGER) END) VIRTUAL,"    \
    " notes TEXT AS (CASE WHEN json_valid(listed) THEN"                                  \
    "  json_extract(listed, '$.notes') END) VIRTUAL);"                                   \
    "CREATE UNIQUE INDEX runs_by_created ON runs"                                        \
    " (created_ms, id, state, name, labels, notes);"                                     \
    "CREATE INDEX runs_by_duration ON runs"                                              \
    " (duration_ms, id, created_ms, state, name, labels, notes)"                         \
    " WHERE duration_ms IS NOT NULL;"                                                    \
    "CREATE INDEX runs_by_figure ON runs"                                                \
    " (figure_micro, id, created_ms, state, name, labels, notes)"                        \
    " WHERE figure_micro IS NOT NULL;"                                                   \
    "CREATE TABLE run_nodes ("                                                           \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " node TEXT NOT NULL,"                                                               \
    " PRIMARY KEY (run, node)) WITHOUT ROWID;"                                           \
    "CREATE INDEX run_nodes_by_node ON run_nodes (node, run);"                           \
    "CREATE TABLE idempotency ("                                                         \
    " key TEXT NOT NULL PRIMARY KEY,"                                                    \
    " body_hash TEXT NOT NULL,"                                                          \
    " run TEXT NOT NULL,"                                                                \
    " created_ms INTEGER NOT NULL);"                                                     \
    "CREATE INDEX idempotency_by_run ON idempotency (run);"

/* samples: see event_samples.h. `results` contains the parts of counted results that
 * summaries and a run's sums need. Its `key` and `choice` are numbers of texts in
 * `result_texts` (result_record.h). -1 in cycle, row, rank, choice and wrong means
 * none. */
#define SQL_EVENTS                                                                       \
    "CREATE TABLE events ("                                                              \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " id INTEGER NOT NULL,"                                                              \
    " time_ms INTEGER NOT NULL,"                                                         \
    " type TEXT NOT NULL,"                                                               \
    " body TEXT NOT NULL,"                                                               \
    " samples TEXT,"                                                                     \
    " PRIMARY KEY (run, id));"                                                           \
    "CREATE INDEX events_but_results ON events (run, id, type) WHERE type <> 'result';"  \
    "CREATE TABLE result_texts ("                                                        \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " number INTEGER NOT NULL,"                                                          \
    " text TEXT NOT NULL,"                                                               \
    " PRIMARY KEY (run, number),"                                                        \
    " UNIQUE (run, text));"
#define SQL_RESULTS                                                                      \
    "CREATE TABLE results (run TEXT NOT NULL REFERENCES runs (id) ON DELETE "            \
    "CASCADE" RESULT_DEFINITIONS ", PRIMARY KEY (run, event)) WITHOUT ROWID;"
#define SQL_LOGS                                                                         \
    "CREATE TABLE logs ("                                                                \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " seq INTEGER NOT NULL,"                                                             \
    " time_ms INTEGER NOT NULL,"                                                         \
    " case_no INTEGER NOT NULL,"                                                         \
    " rank INTEGER NOT NULL,"                                                            \
    " stream TEXT NOT NULL,"                                                             \
    " text TEXT NOT NULL,"                                                               \
    " PRIMARY KEY (run, seq));"

#define SQL_NODES                                                                        \
    "CREATE TABLE acks ("                                                                \
    " boot_id TEXT NOT NULL PRIMARY KEY,"                                                \
    " seq INTEGER NOT NULL,"                                                             \
    " updated_ms INTEGER NOT NULL);"                                                     \
    "CREATE TABLE node_events ("                                                         \
    " id INTEGER PRIMARY KEY,"                                                           \
    " node TEXT NOT NULL,"                                                               \
    " time_ms INTEGER NOT NULL,"                                                         \
    " state TEXT NOT NULL,"                                                              \
    " detail TEXT);"                                                                     \
    "CREATE INDEX node_events_by_node ON node_events (node, id);"

#define SQL_JOBS                                                                         \
    "CREATE TABLE jobs ("                                                                \
    " id TEXT NOT NULL PRIMARY KEY,"                                                     \
    " ended_ms INTEGER," /* NULL until it ends */                                        \
    " doc TEXT NOT NULL);"

/* See store_write_watched. */
#define SQL_WATCHED                                                                      \
    "CREATE TABLE watched ("                                                             \
    " kind TEXT NOT NULL CHECK (kind IN ('node', 'watch')),"                             \
    " id TEXT NOT NULL,"                                                                 \
    " doc TEXT NOT NULL,"                                                                \
    " PRIMARY KEY (kind, id)) WITHOUT ROWID;"

/* The values of runs (store_trends.h), stored in the order in which a trend reads them.
 * Equal texts are stored once and shared by runs. */
#define SQL_VALUES                                                                       \
    "CREATE TABLE values_version (version INTEGER NOT NULL);"                            \
    "CREATE TABLE values_due ("                                                          \
    " run TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE"              \
    "  DEFERRABLE INITIALLY DEFERRED) WITHOUT ROWID;"                                    \
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"            \
    "CREATE TABLE run_values ("                                                          \
    " figure INTEGER NOT NULL,"                                                          \
    " created_ms INTEGER NOT NULL,"                                                      \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " like_nodes INTEGER NOT NULL,"                                                      \
    " like_hardware INTEGER NOT NULL,"                                                   \
    " nodes INTEGER NOT NULL,"                                                           \
    " backend TEXT NOT NULL,"                                                            \
    " world_size INTEGER NOT NULL,"                                                      \
    " versions INTEGER NOT NULL,"                                                        \
    " is_whole INTEGER NOT NULL,"                                                        \
    " cases INTEGER NOT NULL,"                                                           \
    " value REAL NOT NULL,"                                                              \
    " low REAL,"                                                                         \
    " high REAL,"                                                                        \
    " least REAL NOT NULL,"                                                              \
    " most REAL NOT NULL,"                                                               \
    " PRIMARY KEY (figure, created_ms, run, like_nodes)) WITHOUT ROWID;"                 \
    "CREATE INDEX run_values_by_run ON run_values (run);"                                \
    "CREATE INDEX run_values_by_nodes ON run_values"                                     \
    " (like_nodes, created_ms, run, is_whole);"                                          \
    "CREATE INDEX run_values_by_hardware ON run_values"                                  \
    " (like_hardware, created_ms, run, is_whole);"                                       \
    "CREATE TABLE baselines ("                                                           \
    " id TEXT NOT NULL PRIMARY KEY,"                                                     \
    " run TEXT NOT NULL,"                                                                \
    " likeness TEXT NOT NULL,"                                                           \
    " accepted_ms INTEGER NOT NULL,"                                                     \
    " accepted_by TEXT NOT NULL,"                                                        \
    " why TEXT NOT NULL,"                                                                \
    " peer TEXT NOT NULL,"                                                               \
    " removed_ms INTEGER,"                                                               \
    " removed_by TEXT,"                                                                  \
    " removed_why TEXT,"                                                                 \
    " removed_peer TEXT);"                                                               \
    "CREATE INDEX baselines_by_run ON baselines (run);"                                  \
    "CREATE TRIGGER baseline_kept BEFORE DELETE ON runs WHEN EXISTS"                     \
    " (SELECT 1 FROM baselines WHERE run = OLD.id AND removed_ms IS NULL)"               \
    " BEGIN SELECT RAISE(ABORT, 'it is a baseline'); END;"

/* Delete a text together with the last run that uses it. Inventories stay until the next
 * start (drop_unused in store.c). */
#define SQL_DROP_CONTENT                                                                 \
    " ON artifacts WHEN OLD.name <> 'inventory.json'"                                    \
    " AND NOT EXISTS (SELECT 1 FROM artifacts WHERE digest = OLD.digest)"                \
    " BEGIN DELETE FROM contents WHERE digest = OLD.digest; END;"
#define SQL_ARTIFACTS                                                                    \
    "CREATE TABLE contents ("                                                            \
    " digest TEXT NOT NULL PRIMARY KEY,"                                                 \
    " bytes INTEGER NOT NULL,"                                                           \
    " text TEXT NOT NULL);"                                                              \
    "CREATE TABLE artifacts ("                                                           \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " case_no INTEGER NOT NULL,"                                                         \
    " node TEXT NOT NULL,"                                                               \
    " name TEXT NOT NULL,"                                                               \
    " digest TEXT NOT NULL REFERENCES contents (digest),"                                \
    " PRIMARY KEY (run, case_no, node, name)) WITHOUT ROWID;"                            \
    "CREATE INDEX artifacts_by_digest ON artifacts (digest);"                            \
    "CREATE TRIGGER artifact_deleted AFTER DELETE" SQL_DROP_CONTENT                      \
    "CREATE TRIGGER artifact_replaced AFTER UPDATE OF digest" SQL_DROP_CONTENT

/* The answers of a run's verdicts, with one row for each node that the verdict names.
 * `node` is empty if the verdict names no node. */
#define SQL_REPLACE_ANSWERS                                                              \
    " BEGIN DELETE FROM run_answers WHERE run = NEW.id;"                                 \
    "INSERT INTO run_answers SELECT DISTINCT NEW.id,"                                    \
    " json_extract(verdict.value, '$.kind'), json_extract(verdict.value, '$.answer'),"   \
    " coalesce(named.value, '') FROM json_each(NEW.doc, '$.verdicts') AS verdict"        \
    " LEFT JOIN json_each(verdict.value, '$.nodes') AS named; END;"
#define SQL_ANSWERS                                                                      \
    "CREATE TABLE run_answers ("                                                         \
    " run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"                         \
    " kind TEXT NOT NULL,"                                                               \
    " answer TEXT NOT NULL,"                                                             \
    " node TEXT NOT NULL,"                                                               \
    " PRIMARY KEY (run, kind, answer, node)) WITHOUT ROWID;"                             \
    "CREATE INDEX run_answers_by_answer ON run_answers (answer, kind, run);"             \
    "CREATE INDEX run_answers_by_node ON run_answers (node, answer, kind, run);"         \
    "CREATE TRIGGER run_added AFTER INSERT ON runs" SQL_REPLACE_ANSWERS                  \
    "CREATE TRIGGER run_changed AFTER UPDATE OF doc ON runs" SQL_REPLACE_ANSWERS

static const char SQL_SCHEMA[] = SQL_RUNS SQL_EVENTS SQL_RESULTS SQL_LOGS SQL_NODES
    SQL_JOBS SQL_WATCHED SQL_VALUES SQL_ARTIFACTS SQL_ANSWERS;

bool store_sql_is_environment(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
        return false;
    default:
        return true;
    }
}

bool store_sql_is_damage(int rc)
{
    switch (rc) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
    case SQLITE_IOERR_DATA:
        return true;
    default:
        return (rc & 0xff) == SQLITE_NOTADB || (rc & 0xff) == SQLITE_CORRUPT;
    }
}

static enum error_code code_of(int rc)
{
    if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        return ERROR_NOT_FOUND;
    if ((rc & 0xff) == SQLITE_NOMEM)
        return ERROR_MEMORY;
    if ((rc & 0xff) == SQLITE_TOOBIG)
        return ERROR_LIMIT;
    if (store_sql_is_damage(rc))
        return ERROR_IO;
    return store_sql_is_environment(rc) ? ERROR_UNAVAILABLE : ERROR_INTERNAL;
}

int store_sql_error(struct error *err, sqlite3 *db, const char *what)
{
    return error_set(err, code_of(sqlite3_extended_errcode(db)), "%s: %s", what,
                     sqlite3_errmsg(db));
}

int store_sql_exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int store_sql_bind_text(sqlite3_stmt *stmt, int index, const char *text)
{
    return sqlite3_bind_text(stmt, index, text, -1, SQLITE_STATIC);
}

static int bind_value(sqlite3_stmt *stmt, int index, const json_t *value)
{
    struct buf text;

    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return sqlite3_bind_text64(stmt, index, json_string_value(value),
                                   json_string_length(value), SQLITE_STATIC, SQLITE_UTF8);
    case JSON_INTEGER:
        return sqlite3_bind_int64(stmt, index, json_integer_value(value));
    case JSON_REAL:
        return sqlite3_bind_double(stmt, index, json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return sqlite3_bind_int(stmt, index, json_is_true(value));
    case JSON_NULL:
        return sqlite3_bind_null(stmt, index);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    buf_init(&text, SIZE_MAX / 2);
    if (json_is_object(value))
        run_packed_append(value, &text);
    else
        json_append(value, &text);
    return sqlite3_bind_text(stmt, index, buf_detach(&text, NULL), -1, free);
}

int store_sql_bind_json(sqlite3_stmt *stmt, const json_t *params)
{
    int n = sqlite3_bind_parameter_count(stmt), rc = SQLITE_OK;

    for (int i = 1; i <= n && rc == SQLITE_OK; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);

        rc = bind_value(stmt, i, name ? json_object_get(params, name + 1) : NULL);
    }
    return rc;
}

int store_sql_step(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int store_sql_each(sqlite3 *db, const char *sql, const json_t *params,
                   store_sql_row *take, void *arg, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    int taken = 0, rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = store_sql_bind_json(stmt, params);
    if (rc == SQLITE_OK)
        while (!taken && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
            taken = take(arg, stmt);
    if (!taken && rc != SQLITE_DONE)
        taken = store_sql_error(err, db, "cannot read");
    sqlite3_finalize(stmt);
    return taken;
}

const char *store_sql_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);

    return text ? text : "";
}

json_t *store_sql_json(sqlite3_stmt *stmt, int column, struct error *err)
{
    const char *text = store_sql_text(stmt, column);
    json_t *value = json_parse(text, (size_t)sqlite3_column_bytes(stmt, column), err);

    if (!value && err)
        err->code = ERROR_INTERNAL;
    return value;
}

static int take_int(void *arg, sqlite3_stmt *stmt)
{
    *(int *)arg = sqlite3_column_int(stmt, 0);
    return 0;
}

static int take_mode(void *arg, sqlite3_stmt *stmt)
{
    *(bool *)arg = strcmp(store_sql_text(stmt, 0), "wal") == 0;
    return 0;
}

/* Switch the file to WAL mode, which is persistent. Check the result, because SQLite
 * silently refuses WAL mode on a file system without shared memory. */
static int set_wal(sqlite3 *db, struct error *err)
{
    bool is_wal = false;

    if (store_sql_each(db, "PRAGMA journal_mode = WAL", NULL, take_mode, &is_wal, err))
        return error_prefix(err, "cannot use a write-ahead log");
    return is_wal
               ? 0
               : error_set(err, ERROR_UNSUPPORTED,
                           "the file system does not support SQLite's write-ahead log");
}

int store_sql_open(const char *path, sqlite3 **out, struct error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
        if (db)
            store_sql_error(err, db, path);
        else
            error_set(err, ERROR_MEMORY, "%s: out of memory", path);
        goto fail;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
    if (store_sql_exec(db, SQL_CONNECTION) != SQLITE_OK) {
        store_sql_error(err, db, path);
        goto fail;
    }
    *out = db;
    return 0;

fail:
    sqlite3_close(db);
    return -1;
}

/* Return the version of the schema. Before the first release, the version is a hash of
 * the schema's text. */
static int schema_version(void)
{
    return (int)(fnv1a(FNV1A_BEGIN, SQL_SCHEMA, sizeof(SQL_SCHEMA)) & 0x7fffffff);
}

int store_sql_check_owner(sqlite3 *db, const char *path, bool *is_new, struct error *err)
{
    int id = 0, version = 0, tables = 0;

    if (store_sql_each(db, "PRAGMA application_id", NULL, take_int, &id, err) ||
        store_sql_each(db, "PRAGMA user_version", NULL, take_int, &version, err) ||
        store_sql_each(db, "SELECT count(*) FROM sqlite_master", NULL, take_int, &tables,
                       err))
        return error_prefix(err, "%s", path);
    *is_new = !id && !version && !tables;
    if (*is_new)
        return 0;
    if (id != APPLICATION_ID && id != EARLIER_APPLICATION_ID)
        return error_set(err, ERROR_CONFLICT, "%s is another program's database", path);
    if (id != APPLICATION_ID || version != schema_version())
        return error_set(err, ERROR_UNSUPPORTED,
                         "%s was written by another version of ringbench-server, and "
                         "only that version can read it. Export its results with that "
                         "server (GET /api/v1/runs/ID/results?format=csv). Then start "
                         "this server with another data directory",
                         path);
    return 0;
}

static int create_tables(sqlite3 *db)
{
    char stamp[96];
    int rc = store_sql_exec(db, "BEGIN IMMEDIATE");

    sqlite3_snprintf(sizeof(stamp), stamp,
                     "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                     APPLICATION_ID, schema_version());
    if (rc == SQLITE_OK)
        rc = store_sql_exec(db, SQL_SCHEMA);
    if (rc == SQLITE_OK)
        rc = store_sql_exec(db, stamp);
    return rc;
}

int store_sql_set_up(sqlite3 *db, const char *path, struct error *err)
{
    bool is_new;

    if (store_sql_check_owner(db, path, &is_new, err) < 0)
        return -1;
    if (set_wal(db, err) < 0)
        return error_prefix(err, "%s", path);
    if (is_new && create_tables(db) != SQLITE_OK) {
        store_sql_error(err, db, path);
        store_sql_exec(db, "ROLLBACK");
        return -1;
    }
    return 0;
}

int store_sql_prepare(sqlite3 *db, const char *const *sql, size_t n, sqlite3_stmt **stmts,
                      struct error *err)
{
    for (size_t i = 0; i < n; i++)
        stmts[i] = NULL;
    for (size_t i = 0; i < n; i++)
        if (sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &stmts[i],
                               NULL) != SQLITE_OK) {
            store_sql_error(err, db, "cannot prepare a statement");
            store_sql_finalize(stmts, n);
            return -1;
        }
    return 0;
}

void store_sql_finalize(sqlite3_stmt **stmts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sqlite3_finalize(stmts[i]);
        stmts[i] = NULL;
    }
}
