/* SPDX-License-Identifier: Apache-2.0 */
/* store_ops.c - executes the operations of a write as SQL statements */
#include "server/store/store_ops.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/result_row.h"
#include "server/store/store_sql.h"
#include "server/store/store_trends.h"

#define STATEMENTS_MAX 5

/* SQL: the oldest ended run that exceeds the limits. The `keep` newest runs include
 * unfinished runs. */
#define OLDEST                                                                           \
    "(SELECT id FROM runs AS old WHERE state IN " STORE_SQL_ENDED                        \
    " AND (created_ms < :created_before_ms OR (:keep > 0 AND (created_ms, id) <="        \
    "  (SELECT created_ms, id FROM runs ORDER BY created_ms DESC, id DESC"               \
    "   LIMIT 1 OFFSET :keep)))"                                                         \
    " AND NOT EXISTS"                                                                    \
    "  (SELECT 1 FROM baselines WHERE run = old.id AND removed_ms IS NULL)"              \
    " ORDER BY created_ms, id LIMIT 1)"

/* The statements of each kind of operation, in order; parameters are bound by name. Rows
 * are updated, because REPLACE would delete the old row and, by the foreign keys, its
 * events. When a run ends, its values become due (store_trends.h). */
static const char *const statements[STORE_OP_COUNT][STATEMENTS_MAX] = {
    [STORE_OP_RUN] =
        {"INSERT OR IGNORE INTO values_due (run)"
         " SELECT :run WHERE :state IN " STORE_SQL_ENDED
         " AND NOT EXISTS (SELECT 1 FROM runs WHERE id = :run AND state = :state)",
         "INSERT INTO runs (id, state, name, created_ms, labels, listed, doc)"
         " VALUES (:run, :state, :name, :created_ms, :labels, :listed, :doc)"
         " ON CONFLICT (id) DO UPDATE SET state = :state, name = :name,"
         " created_ms = :created_ms, labels = :labels, listed = :listed, doc = :doc",
         "INSERT OR IGNORE INTO run_nodes (run, node)"
         " SELECT :run, json_extract(value, '$.name') FROM json_each(:nodes)"
         " WHERE json_extract(value, '$.name') IS NOT NULL"},
    [STORE_OP_LOG] = {"INSERT INTO logs (run, seq, time_ms, case_no, rank, stream, text)"
                      " VALUES (:run,"
                      " (SELECT coalesce(max(seq), 0) + 1 FROM logs WHERE run = :run),"
                      " :time_ms, :case_no, :rank, :stream, :text)"},
    [STORE_OP_ACK] = {"INSERT INTO acks (boot_id, seq, updated_ms)"
                      " VALUES (:boot_id, :seq, :now_ms)"
                      " ON CONFLICT (boot_id) DO UPDATE SET seq = max(seq, :seq),"
                      " updated_ms = :now_ms"},
    [STORE_OP_UNACK] = {"DELETE FROM acks WHERE boot_id = :boot_id AND seq = 0"},
    [STORE_OP_IDEMPOTENCY] =
        {"INSERT INTO idempotency (key, body_hash, run, created_ms)"
         " VALUES (:key, :body_hash, :run, :now_ms)"
         " ON CONFLICT (key) DO UPDATE SET body_hash = :body_hash, run = :run,"
         " created_ms = :now_ms WHERE created_ms < :expired_ms"},
    [STORE_OP_DISOWN] =
        {"UPDATE events SET type = 'disowned' WHERE run = :run AND id IN"
         " (SELECT event FROM results WHERE run = :run AND case_no = :case_no)",
         "DELETE FROM results WHERE run = :run AND case_no = :case_no"},
    [STORE_OP_DELETE] = {"DELETE FROM idempotency WHERE run = :run",
                         "DELETE FROM runs WHERE id = :run"},
    [STORE_OP_EXPIRE] = {"DELETE FROM idempotency WHERE run = " OLDEST,
                         "DELETE FROM runs WHERE id = " OLDEST},
    [STORE_OP_PRUNE] = {"DELETE FROM acks WHERE updated_ms < :acks_ms",
                        "DELETE FROM idempotency WHERE created_ms < :keys_ms",
                        "DELETE FROM node_events WHERE time_ms < :acks_ms"},
    [STORE_OP_NODE] = {"INSERT INTO node_events (node, time_ms, state, detail)"
                       " VALUES (:node, :time_ms, :state, :detail)",
                       "DELETE FROM node_events WHERE node = :node AND id <= (SELECT id"
                       " FROM node_events WHERE node = :node ORDER BY id DESC"
                       " LIMIT 1 OFFSET :most)"},
    [STORE_OP_JOB] = {"INSERT INTO jobs (id, ended_ms, doc)"
                      " VALUES (:id, :ended_ms, :doc)"
                      " ON CONFLICT (id) DO UPDATE SET ended_ms = :ended_ms, doc = :doc",
                      "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs"
                      " WHERE ended_ms IS NOT NULL ORDER BY ended_ms DESC"
                      " LIMIT -1 OFFSET :most)"},
    [STORE_OP_WATCHED] = {"INSERT INTO watched (kind, id, doc) VALUES (:kind, :id, :doc)"
                          " ON CONFLICT (kind, id) DO UPDATE SET doc = :doc"},
    [STORE_OP_UNWATCHED] = {"DELETE FROM watched WHERE kind = :kind AND id = :id"},
    [STORE_OP_VALUES] =
        {"DELETE FROM run_values WHERE run = :run",
         "INSERT OR IGNORE INTO texts (text) SELECT field.value"
         " FROM json_each(:values) AS item, json_each(item.value) AS field"
         " WHERE field.key IN ('figure', 'like_nodes', 'like_hardware')",
         "INSERT OR IGNORE INTO texts (text) VALUES (:nodes), (:versions)",
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
         "DELETE FROM values_due WHERE run = :run"},
    [STORE_OP_ARTIFACT] = {"INSERT OR IGNORE INTO contents (digest, bytes, text)"
                           " SELECT :digest, :bytes, :text WHERE :text IS NOT NULL",
                           "INSERT INTO artifacts (run, case_no, node, name, digest)"
                           " SELECT :run, :case, :node, :name, :digest"
                           " WHERE EXISTS (SELECT 1 FROM contents WHERE digest = :digest)"
                           " ON CONFLICT (run, case_no, node, name)"
                           " DO UPDATE SET digest = :digest"},
    [STORE_OP_BASELINE] =
        {"INSERT INTO baselines (id, run, likeness, accepted_ms, accepted_by,"
         " why, peer) SELECT :id, :run, :likeness, :time_ms, :by, :why, :peer"
         " WHERE EXISTS (SELECT 1 FROM runs WHERE id = :run)"},
    [STORE_OP_BASELINE_END] =
        {"UPDATE baselines SET removed_ms = :time_ms, removed_by = :by,"
         " removed_why = :why, removed_peer = :peer"
         " WHERE id = :id AND removed_ms IS NULL"},
};

/* The error code of an operation whose last statement changes no row. */
static const int unchanged[STORE_OP_COUNT] = {
    [STORE_OP_IDEMPOTENCY] = SQLITE_CONSTRAINT,
    [STORE_OP_EXPIRE] = SQLITE_CONSTRAINT,
    [STORE_OP_BASELINE] = SQLITE_CONSTRAINT_FOREIGNKEY,
    [STORE_OP_BASELINE_END] = SQLITE_CONSTRAINT,
};

/* Events are frequent: their parameters are bound by number. */
enum { SQL_NEXT_EVENT, SQL_EVENT, SQL_TEXT, SQL_ADD_TEXT, SQL_RESULT, SQL_COUNT };

static const char *const event_statements[SQL_COUNT] = {
    [SQL_NEXT_EVENT] = "SELECT coalesce(max(id), 0) + 1 FROM events WHERE run = ?1",
    [SQL_EVENT] = "INSERT INTO events (run, id, time_ms, type, body, samples)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_TEXT] = "SELECT number FROM result_texts WHERE run = ?1 AND text = ?2",
    [SQL_ADD_TEXT] = "INSERT INTO result_texts (run, number, text) VALUES (?1,"
                     " (SELECT count(*) FROM result_texts WHERE run = ?1), ?2)",
    [SQL_RESULT] =
        "INSERT INTO results (run" RESULT_NAMES ") VALUES (?1" RESULT_PARAMETERS ")",
};

/* OR IGNORE, because a run may be due already. */
static const char SQL_ALL_DUE[] = "INSERT OR IGNORE INTO values_due (run) SELECT id FROM "
                                  "runs WHERE state IN " STORE_SQL_ENDED;

struct store_ops {
    sqlite3 *db;
    sqlite3_stmt *stmts[STORE_OP_COUNT][STATEMENTS_MAX];
    sqlite3_stmt *event[SQL_COUNT];
};

static size_t count_statements(size_t kind)
{
    size_t n = 0;

    while (n < STATEMENTS_MAX && statements[kind][n])
        n++;
    return n;
}

struct store_ops *store_ops_create(sqlite3 *db, struct error *err)
{
    struct store_ops *ops = memory_zeroed(1, sizeof(*ops), "the store");
    int result;

    ops->db = db;
    result = store_sql_prepare(db, event_statements, SQL_COUNT, ops->event, err);
    for (size_t kind = 0; kind < STORE_OP_COUNT && !result; kind++)
        result = store_sql_prepare(db, statements[kind], count_statements(kind),
                                   ops->stmts[kind], err);
    if (!result)
        return ops;
    store_ops_destroy(ops);
    return NULL;
}

void store_ops_destroy(struct store_ops *ops)
{
    if (!ops)
        return;
    store_sql_finalize(ops->event, SQL_COUNT);
    for (size_t kind = 0; kind < STORE_OP_COUNT; kind++)
        store_sql_finalize(ops->stmts[kind], STATEMENTS_MAX);
    free(ops);
}

/* Run a statement and read the integer that it selects. Returns SQLITE_DONE if it selects
 * nothing. */
static int step_to_value(sqlite3_stmt *stmt, int64_t *value)
{
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        *value = sqlite3_column_int64(stmt, 0);
        rc = SQLITE_OK;
    }
    sqlite3_reset(stmt);
    return rc;
}

/* Return the number of a text within its run; -1 for NULL. A new text is stored with the
 * next number. */
static int number_of_text(struct store_ops *ops, const char *run, const char *text,
                          int *number)
{
    int64_t value = -1;
    int rc = SQLITE_OK;

    for (int which = SQL_TEXT; which <= SQL_ADD_TEXT; which++) {
        store_sql_bind_text(ops->event[which], 1, run);
        store_sql_bind_text(ops->event[which], 2, text);
    }
    if (text)
        rc = step_to_value(ops->event[SQL_TEXT], &value);
    if (rc == SQLITE_DONE) {
        rc = store_sql_step(ops->event[SQL_ADD_TEXT]);
        if (rc == SQLITE_OK)
            rc = step_to_value(ops->event[SQL_TEXT], &value);
    }
    *number = (int)value;
    return rc;
}

static int add_result(struct store_ops *ops, struct store_op *op)
{
    int rc = number_of_text(ops, op->run, op->key, &op->record->key);

    if (rc == SQLITE_OK)
        rc = number_of_text(ops, op->run, op->choice, &op->record->choice);
    if (rc != SQLITE_OK)
        return rc;
    op->record->event = op->event.id;
    store_sql_bind_text(ops->event[SQL_RESULT], 1, op->run);
    result_row_bind(ops->event[SQL_RESULT], op->record);
    return store_sql_step(ops->event[SQL_RESULT]);
}

static int apply_event(struct store_ops *ops, struct store_op *op)
{
    sqlite3_stmt *stmt = ops->event[SQL_EVENT];
    int rc;

    store_sql_bind_text(ops->event[SQL_NEXT_EVENT], 1, op->run);
    rc = step_to_value(ops->event[SQL_NEXT_EVENT], &op->event.id);
    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, op->event.id);
    sqlite3_bind_int64(stmt, 3, op->event.time_ms);
    store_sql_bind_text(stmt, 4, op->event.type);
    store_sql_bind_text(stmt, 5, op->event.body);
    store_sql_bind_text(stmt, 6, op->event.samples);
    rc = store_sql_step(ops->event[SQL_EVENT]);
    return rc == SQLITE_OK && op->record ? add_result(ops, op) : rc;
}

int store_ops_apply(struct store_ops *ops, struct store_op *op)
{
    int rc = SQLITE_OK;

    if (op->kind == STORE_OP_EVENT)
        return apply_event(ops, op);
    for (size_t i = 0; i < count_statements(op->kind) && rc == SQLITE_OK; i++) {
        sqlite3_stmt *stmt = ops->stmts[op->kind][i];

        rc = store_sql_bind_json(stmt, op->params);
        if (rc == SQLITE_OK)
            rc = store_sql_step(stmt);
        sqlite3_clear_bindings(stmt);
    }
    if (rc == SQLITE_OK && unchanged[op->kind] && sqlite3_changes(ops->db) == 0)
        rc = unchanged[op->kind];
    return rc;
}

void store_ops_error(struct store_ops *ops, const struct store_op *op, int rc,
                     struct error *err)
{
    const char *run = op->run ? op->run : json_get_str(op->params, "run", "");

    if (op->kind == STORE_OP_IDEMPOTENCY && rc == SQLITE_CONSTRAINT)
        error_set(err, ERROR_CONFLICT, "the idempotency key is already in use");
    else if (op->kind == STORE_OP_BASELINE_END && rc == SQLITE_CONSTRAINT)
        error_set(err, ERROR_CONFLICT, "%s is no longer a baseline",
                  json_get_str(op->params, "id", ""));
    else if (op->kind == STORE_OP_DELETE && rc == SQLITE_CONSTRAINT_TRIGGER)
        error_set(err, ERROR_CONFLICT, "run %s is a baseline: remove the baseline first",
                  run);
    else if (op->kind == STORE_OP_EXPIRE && rc == SQLITE_CONSTRAINT)
        error_set(err, ERROR_NOT_FOUND, "no run is due for deletion");
    else if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        error_set(err, ERROR_NOT_FOUND, "there is no run %s", run);
    else
        store_sql_error(err, ops->db, "cannot write the database");
}

/* ---- Values of another version ---- */

/* The table values_version contains one row, or none in a new database. */
int store_ops_renew_values(sqlite3 *db, struct error *err)
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
    store_sql_error(err, db, "cannot mark runs for new trend values");
    store_sql_exec(db, "ROLLBACK");
    return -1;
}
