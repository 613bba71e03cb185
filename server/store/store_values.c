/* store_values.c - values of runs and baselines in the database: the writer's side */
#include "server/store/store_values.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "server/store/store_sql.h"
#include "server/store/store_trends.h"

enum {
    SQL_CLEAR,
    SQL_TEXTS,
    SQL_TEXT,
    SQL_PUT,
    SQL_DONE,
    SQL_NOTE,
    SQL_ACCEPT,
    SQL_REMOVE,
    SQL_IS_BASELINE,
    SQL_COUNT
};

/* Parameters are bound by name, see store_sql_bind_json. */
static const char *const statements[SQL_COUNT] = {
    [SQL_CLEAR] = "DELETE FROM run_values WHERE run = :run",
    [SQL_TEXTS] = "INSERT OR IGNORE INTO texts (text) SELECT field.value"
                  " FROM json_each(:values) AS item, json_each(item.value) AS field"
                  " WHERE field.key IN ('figure', 'like_nodes', 'like_hardware')",
    [SQL_TEXT] = "INSERT OR IGNORE INTO texts (text) VALUES (:nodes), (:versions)",
    [SQL_PUT] =
        "INSERT OR REPLACE INTO run_values (figure, created_ms, run, like_nodes,"
        " like_hardware, nodes, backend, world_size, versions, is_whole, cases, value,"
        " low, high, least, most)"
        " SELECT (SELECT id FROM texts WHERE text = json_extract(value, '$.figure')),"
        " :created_ms, :run,"
        " (SELECT id FROM texts WHERE text = json_extract(value, '$.like_nodes')),"
        " (SELECT id FROM texts WHERE text = json_extract(value, '$.like_hardware')),"
        " (SELECT id FROM texts WHERE text = :nodes), :backend, :world_size,"
        " (SELECT id FROM texts WHERE text = :versions), :is_whole,"
        " json_extract(value, '$.cases'), json_extract(value, '$.value'),"
        " json_extract(value, '$.low'), json_extract(value, '$.high'),"
        " json_extract(value, '$.least'), json_extract(value, '$.most')"
        " FROM json_each(:values)",
    [SQL_DONE] = "DELETE FROM values_due WHERE run = :run",
    [SQL_NOTE] =
        "INSERT OR IGNORE INTO values_due (run) SELECT ?1 WHERE ?2 IN " STORE_SQL_ENDED
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1 AND state = ?2)",
    [SQL_ACCEPT] = "INSERT INTO baselines (id, run, likeness, accepted_ms, accepted_by,"
                   " why, peer) SELECT :id, :run, :likeness, :time_ms, :by, :why, :peer"
                   " WHERE EXISTS (SELECT 1 FROM runs WHERE id = :run)",
    [SQL_REMOVE] = "UPDATE baselines SET removed_ms = :time_ms, removed_by = :by,"
                   " removed_why = :why, removed_peer = :peer"
                   " WHERE id = :id AND removed_ms IS NULL",
    [SQL_IS_BASELINE] = "SELECT 1 FROM baselines WHERE run = ?1 AND removed_ms IS NULL",
};

/* By the time that a run's row says it has ended, it may have been due before. */
static const char SQL_ALL_DUE[] = "INSERT OR IGNORE INTO values_due (run) SELECT id FROM "
                                  "runs WHERE state IN " STORE_SQL_ENDED;

struct store_values {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
};

struct store_values *store_values_create(sqlite3 *db, struct error *err)
{
    struct store_values *values = calloc(1, sizeof(*values));

    if (!values) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    values->db = db;
    if (store_sql_prepare(db, statements, SQL_COUNT, values->stmts, err) < 0) {
        free(values);
        return NULL;
    }
    return values;
}

void store_values_destroy(struct store_values *values)
{
    if (!values)
        return;
    store_sql_finalize(values->stmts, SQL_COUNT);
    free(values);
}

static int step(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int run_statement(struct store_values *values, int which, const json_t *params)
{
    sqlite3_stmt *stmt = values->stmts[which];
    int rc = store_sql_bind_json(stmt, params);

    if (rc == SQLITE_OK)
        rc = step(stmt);
    sqlite3_clear_bindings(stmt);
    return rc;
}

/* One that must change a row, or there is nothing that it is about. */
static int change_one(struct store_values *values, int which, const json_t *params,
                      int otherwise)
{
    int rc = run_statement(values, which, params);

    return rc == SQLITE_OK && sqlite3_changes(values->db) == 0 ? otherwise : rc;
}

/* A run that was deleted meanwhile has no values. */
static int put_values(struct store_values *values, const json_t *params)
{
    static const int order[] = {SQL_CLEAR, SQL_TEXTS, SQL_TEXT, SQL_PUT, SQL_DONE};
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && rc == SQLITE_OK; i++)
        rc = run_statement(values, order[i], params);
    return rc;
}

int store_values_apply(struct store_values *values, const struct store_op *op)
{
    if (op->kind == STORE_OP_VALUES)
        return put_values(values, op->params);
    if (op->kind == STORE_OP_BASELINE)
        return change_one(values, SQL_ACCEPT, op->params, SQLITE_CONSTRAINT_FOREIGNKEY);
    return change_one(values, SQL_REMOVE, op->params, SQLITE_CONSTRAINT);
}

int store_values_note_end(struct store_values *values, const char *run, const char *state)
{
    store_sql_bind_text(values->stmts[SQL_NOTE], 1, run);
    store_sql_bind_text(values->stmts[SQL_NOTE], 2, state);
    return step(values->stmts[SQL_NOTE]);
}

int store_values_allow_delete(struct store_values *values, const char *run)
{
    sqlite3_stmt *stmt = values->stmts[SQL_IS_BASELINE];
    int rc;

    store_sql_bind_text(stmt, 1, run);
    rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    if (rc == SQLITE_ROW)
        return SQLITE_CONSTRAINT;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- Another way to make values ---- */

/* values_version has one row, but none in a new database. */
int store_values_renew(sqlite3 *db, struct error *err)
{
    char sql[200];
    int rc = store_sql_exec(db, "BEGIN IMMEDIATE");

    snprintf(sql, sizeof(sql),
             "DELETE FROM values_version WHERE version <> %d;"
             "INSERT INTO values_version SELECT %d"
             " WHERE NOT EXISTS (SELECT 1 FROM values_version)",
             STORE_VALUES_VERSION, STORE_VALUES_VERSION);
    if (rc == SQLITE_OK)
        rc = store_sql_exec(db, sql);
    if (rc == SQLITE_OK && sqlite3_changes(db) > 0)
        rc = store_sql_exec(db, SQL_ALL_DUE);
    if (rc == SQLITE_OK)
        rc = store_sql_exec(db, "COMMIT");
    if (rc == SQLITE_OK)
        return 0;
    store_sql_error(err, db, "cannot note whose values are due");
    store_sql_exec(db, "ROLLBACK");
    return -1;
}
