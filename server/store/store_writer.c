/* store_writer.c - the writer thread: takes what is queued, commits it as one
 * transaction, hands it back */
#include "server/store/store_writer.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "server/store/result_row.h"
#include "server/store/store_memo.h"
#include "server/store/store_sql.h"
#include "server/store/store_values.h"

#define RETRY_NS INT64_C(1000000000)

enum {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_SAVEPOINT,
    SQL_UNDO,
    SQL_RELEASE,
    SQL_RUN,
    SQL_RUN_NODES,
    SQL_CASE,
    SQL_NEXT_EVENT,
    SQL_EVENT,
    SQL_TEXT,
    SQL_ADD_TEXT,
    SQL_RESULT,
    SQL_DISOWN,
    SQL_LOG,
    SQL_ACK,
    SQL_UNACK,
    SQL_IDEMPOTENCY,
    SQL_DELETE_RUN,
    SQL_DELETE_KEYS,
    SQL_PRUNE_ACKS,
    SQL_PRUNE_KEYS,
    SQL_PRUNE_NODES,
    SQL_NODE,
    SQL_TRIM_NODE,
    SQL_JOB,
    SQL_TRIM_JOBS,
    SQL_CONTENT,
    SQL_ARTIFACT,
    SQL_COUNT
};

/* REPLACE would delete the old row, and with it, by the foreign keys, the events. */
static const char *const statements[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_SAVEPOINT] = "SAVEPOINT one",
    [SQL_UNDO] = "ROLLBACK TO one",
    [SQL_RELEASE] = "RELEASE one",
    [SQL_RUN] = "INSERT INTO runs (id, state, name, created_ms, labels, listed, doc)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                " ON CONFLICT (id) DO UPDATE SET state = ?2, name = ?3,"
                " created_ms = ?4, labels = ?5, listed = ?6, doc = ?7",
    [SQL_RUN_NODES] = "INSERT OR IGNORE INTO run_nodes (run, node)"
                      " SELECT ?1, json_extract(value, '$.name') FROM json_each(?2)"
                      " WHERE json_extract(value, '$.name') IS NOT NULL",
    [SQL_CASE] = "INSERT INTO run_cases (run, case_no, doc) VALUES (?1, ?2, ?3)"
                 " ON CONFLICT (run, case_no) DO UPDATE SET doc = ?3",
    [SQL_NEXT_EVENT] = "SELECT coalesce(max(id), 0) + 1 FROM events WHERE run = ?1",
    [SQL_EVENT] = "INSERT INTO events (run, id, time_ms, type, body, samples)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_TEXT] = "SELECT number FROM result_texts WHERE run = ?1 AND text = ?2",
    [SQL_ADD_TEXT] = "INSERT INTO result_texts (run, number, text) VALUES (?1,"
                     " (SELECT count(*) FROM result_texts WHERE run = ?1), ?2)",
    [SQL_RESULT] = "INSERT INTO results (run, " RESULT_ROW ") VALUES (?1, ?2, ?3, ?4, ?5,"
                   " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,"
                   " ?20, ?21, ?22, ?23)",
    [SQL_DISOWN] = "DELETE FROM results WHERE run = ?1 AND case_no = ?2",
    [SQL_LOG] = "INSERT INTO logs (run, seq, time_ms, case_no, rank, stream, text)"
                " VALUES (?1,"
                " (SELECT coalesce(max(seq), 0) + 1 FROM logs WHERE run = ?1),"
                " ?2, ?3, ?4, ?5, ?6)",
    [SQL_ACK] = "INSERT INTO acks (boot_id, seq, updated_ms) VALUES (?1, ?2, ?3)"
                " ON CONFLICT (boot_id) DO UPDATE SET seq = max(seq, ?2),"
                " updated_ms = ?3",
    [SQL_UNACK] = "DELETE FROM acks WHERE boot_id = ?1 AND seq = 0",
    [SQL_IDEMPOTENCY] = "INSERT INTO idempotency (key, body_hash, run, created_ms)"
                        " VALUES (?1, ?2, ?3, ?4)"
                        " ON CONFLICT (key) DO UPDATE SET body_hash = ?2, run = ?3,"
                        " created_ms = ?4 WHERE created_ms < ?5",
    [SQL_DELETE_RUN] = "DELETE FROM runs WHERE id = ?1",
    [SQL_DELETE_KEYS] = "DELETE FROM idempotency WHERE run = ?1",
    [SQL_PRUNE_ACKS] = "DELETE FROM acks WHERE updated_ms < ?1",
    [SQL_PRUNE_KEYS] = "DELETE FROM idempotency WHERE created_ms < ?1",
    [SQL_PRUNE_NODES] = "DELETE FROM node_events WHERE time_ms < ?1",
    [SQL_NODE] = "INSERT INTO node_events (node, time_ms, state, detail)"
                 " VALUES (?1, ?2, ?3, ?4)",
    [SQL_TRIM_NODE] = "DELETE FROM node_events WHERE node = ?1 AND id <= (SELECT id"
                      " FROM node_events WHERE node = ?1 ORDER BY id DESC"
                      " LIMIT 1 OFFSET ?2)",
    [SQL_JOB] = "INSERT INTO jobs (id, ended_ms, doc) VALUES (:id, :ended_ms, :doc)"
                " ON CONFLICT (id) DO UPDATE SET ended_ms = :ended_ms, doc = :doc",
    [SQL_TRIM_JOBS] = "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs"
                      " WHERE ended_ms IS NOT NULL ORDER BY ended_ms DESC"
                      " LIMIT -1 OFFSET ?1)",
    [SQL_CONTENT] = "INSERT OR IGNORE INTO contents (digest, bytes, text)"
                    " SELECT :digest, :bytes, :text WHERE :text IS NOT NULL",
    [SQL_ARTIFACT] = "INSERT INTO artifacts (run, case_no, node, name, digest)"
                     " SELECT :run, :case, :node, :name, :digest"
                     " WHERE EXISTS (SELECT 1 FROM contents WHERE digest = :digest)"
                     " ON CONFLICT (run, case_no, node, name)"
                     " DO UPDATE SET digest = :digest",
};

struct store_writer {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
    struct store_values *values;
    uv_thread_t thread;
    uv_async_t *wake;

    uv_mutex_t mutex; /* guards what follows, up to the blank line */
    uv_cond_t changed;
    struct store_write_list queued;
    struct store_write_list finished;
    struct error trouble;
    bool is_stopping, has_ended;

    /* The thread's own: what waits for the disk to take it, in order. */
    struct store_write_list held;
    int64_t retry_at_ns;
    bool is_stuck;
};

/* ---- One write ---- */

static int step(struct store_writer *writer, int which)
{
    sqlite3_stmt *stmt = writer->stmts[which];
    int rc = sqlite3_step(stmt);

    sqlite3_reset(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* The integer that a statement selects; SQLITE_DONE: it selects nothing. */
static int step_to_value(struct store_writer *writer, int which, int64_t *value)
{
    sqlite3_stmt *stmt = writer->stmts[which];
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        *value = sqlite3_column_int64(stmt, 0);
        rc = SQLITE_OK;
    }
    sqlite3_reset(stmt);
    return rc;
}

static int apply_run(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_RUN];
    int rc = store_values_note_end(writer->values, op->run, op->row.state);

    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(stmt, 1, op->run);
    store_sql_bind_text(stmt, 2, op->row.state);
    store_sql_bind_text(stmt, 3, op->row.name);
    sqlite3_bind_int64(stmt, 4, op->row.created_ms);
    store_sql_bind_text(stmt, 5, op->row.labels);
    store_sql_bind_text(stmt, 6, op->row.listed);
    store_sql_bind_text(stmt, 7, op->row.doc);
    rc = step(writer, SQL_RUN);
    if (rc != SQLITE_OK || !op->row.nodes)
        return rc;
    store_sql_bind_text(writer->stmts[SQL_RUN_NODES], 1, op->run);
    store_sql_bind_text(writer->stmts[SQL_RUN_NODES], 2, op->row.nodes);
    return step(writer, SQL_RUN_NODES);
}

static int apply_case(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_CASE];

    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)op->run_case.number);
    store_sql_bind_text(stmt, 3, op->run_case.doc);
    return step(writer, SQL_CASE);
}

/* The number of a text within its run, where a new one gets the next; of none -1. */
static int number_of_text(struct store_writer *writer, const char *run, const char *text,
                          int *number)
{
    int64_t value = -1;
    int rc = SQLITE_OK;

    for (int which = SQL_TEXT; which <= SQL_ADD_TEXT; which++) {
        store_sql_bind_text(writer->stmts[which], 1, run);
        store_sql_bind_text(writer->stmts[which], 2, text);
    }
    if (text)
        rc = step_to_value(writer, SQL_TEXT, &value);
    if (rc == SQLITE_DONE) {
        rc = step(writer, SQL_ADD_TEXT);
        if (rc == SQLITE_OK)
            rc = step_to_value(writer, SQL_TEXT, &value);
    }
    *number = (int)value;
    return rc;
}

static int add_result(struct store_writer *writer, struct store_op *op)
{
    int rc = number_of_text(writer, op->run, op->key, &op->record->key);

    if (rc == SQLITE_OK)
        rc = number_of_text(writer, op->run, op->choice, &op->record->choice);
    if (rc != SQLITE_OK)
        return rc;
    op->record->event = op->event.id;
    store_sql_bind_text(writer->stmts[SQL_RESULT], 1, op->run);
    result_row_bind(writer->stmts[SQL_RESULT], op->record);
    return step(writer, SQL_RESULT);
}

static int apply_event(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_EVENT];
    int rc;

    store_sql_bind_text(writer->stmts[SQL_NEXT_EVENT], 1, op->run);
    rc = step_to_value(writer, SQL_NEXT_EVENT, &op->event.id);
    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, op->event.id);
    sqlite3_bind_int64(stmt, 3, op->event.time_ms);
    store_sql_bind_text(stmt, 4, op->event.type);
    store_sql_bind_text(stmt, 5, op->event.body);
    store_sql_bind_text(stmt, 6, op->event.samples);
    rc = step(writer, SQL_EVENT);
    return rc == SQLITE_OK && op->record ? add_result(writer, op) : rc;
}

static int apply_log(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_LOG];

    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, op->log.time_ms);
    sqlite3_bind_int(stmt, 3, op->log.case_no);
    sqlite3_bind_int(stmt, 4, op->log.rank);
    store_sql_bind_text(stmt, 5, op->log.stream);
    sqlite3_bind_text64(stmt, 6, op->log.text, op->log.len, SQLITE_STATIC, SQLITE_UTF8);
    return step(writer, SQL_LOG);
}

static int apply_ack(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_ACK];

    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, op->ack.seq);
    sqlite3_bind_int64(stmt, 3, op->ack.now_ms);
    return step(writer, SQL_ACK);
}

static int apply_unack(struct store_writer *writer, struct store_op *op)
{
    store_sql_bind_text(writer->stmts[SQL_UNACK], 1, op->run);
    return step(writer, SQL_UNACK);
}

static int apply_idempotency(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_IDEMPOTENCY];
    int rc;

    store_sql_bind_text(stmt, 1, op->run);
    store_sql_bind_text(stmt, 2, op->idempotency.body_hash);
    store_sql_bind_text(stmt, 3, op->idempotency.run);
    sqlite3_bind_int64(stmt, 4, op->idempotency.now_ms);
    sqlite3_bind_int64(stmt, 5, op->idempotency.now_ms - STORE_IDEMPOTENCY_KEEP_MS);
    rc = step(writer, SQL_IDEMPOTENCY);
    return rc == SQLITE_OK && sqlite3_changes(writer->db) == 0 ? SQLITE_CONSTRAINT : rc;
}

static int apply_delete(struct store_writer *writer, struct store_op *op)
{
    int rc = store_values_allow_delete(writer->values, op->run);

    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(writer->stmts[SQL_DELETE_KEYS], 1, op->run);
    rc = step(writer, SQL_DELETE_KEYS);
    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(writer->stmts[SQL_DELETE_RUN], 1, op->run);
    return step(writer, SQL_DELETE_RUN);
}

static int apply_prune(struct store_writer *writer, struct store_op *op)
{
    int rc;

    sqlite3_bind_int64(writer->stmts[SQL_PRUNE_ACKS], 1, op->prune.acks_before_ms);
    rc = step(writer, SQL_PRUNE_ACKS);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(writer->stmts[SQL_PRUNE_KEYS], 1, op->prune.idempotency_before_ms);
    rc = step(writer, SQL_PRUNE_KEYS);
    if (rc != SQLITE_OK)
        return rc;
    /* As long as what else is known of an agent. */
    sqlite3_bind_int64(writer->stmts[SQL_PRUNE_NODES], 1, op->prune.acks_before_ms);
    return step(writer, SQL_PRUNE_NODES);
}

static int apply_node(struct store_writer *writer, struct store_op *op)
{
    sqlite3_stmt *stmt = writer->stmts[SQL_NODE];
    int rc;

    store_sql_bind_text(stmt, 1, op->run);
    sqlite3_bind_int64(stmt, 2, op->node.time_ms);
    store_sql_bind_text(stmt, 3, op->node.state);
    store_sql_bind_text(stmt, 4, op->node.detail);
    rc = step(writer, SQL_NODE);
    if (rc != SQLITE_OK)
        return rc;
    store_sql_bind_text(writer->stmts[SQL_TRIM_NODE], 1, op->run);
    sqlite3_bind_int(writer->stmts[SQL_TRIM_NODE], 2, STORE_NODE_HISTORY_MAX);
    return step(writer, SQL_TRIM_NODE);
}

static int apply_job(struct store_writer *writer, struct store_op *op)
{
    int rc = store_sql_bind_json(writer->stmts[SQL_JOB], op->params);

    if (rc == SQLITE_OK)
        rc = step(writer, SQL_JOB);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int(writer->stmts[SQL_TRIM_JOBS], 1, STORE_JOBS_ENDED_MAX);
    return step(writer, SQL_TRIM_JOBS);
}

static int apply_artifact(struct store_writer *writer, struct store_op *op)
{
    int rc = SQLITE_OK;

    for (int which = SQL_CONTENT; which <= SQL_ARTIFACT && rc == SQLITE_OK; which++) {
        rc = store_sql_bind_json(writer->stmts[which], op->params);
        if (rc == SQLITE_OK)
            rc = step(writer, which);
    }
    return rc;
}

static int apply_values(struct store_writer *writer, struct store_op *op)
{
    return store_values_apply(writer->values, op);
}

static int apply_disown(struct store_writer *writer, struct store_op *op)
{
    store_sql_bind_text(writer->stmts[SQL_DISOWN], 1, op->run);
    sqlite3_bind_int(writer->stmts[SQL_DISOWN], 2, op->case_no);
    return step(writer, SQL_DISOWN);
}

static int (*const apply[STORE_OP_COUNT])(struct store_writer *, struct store_op *) = {
    [STORE_OP_RUN] = apply_run,
    [STORE_OP_CASE] = apply_case,
    [STORE_OP_EVENT] = apply_event,
    [STORE_OP_LOG] = apply_log,
    [STORE_OP_ACK] = apply_ack,
    [STORE_OP_DELETE] = apply_delete,
    [STORE_OP_IDEMPOTENCY] = apply_idempotency,
    [STORE_OP_PRUNE] = apply_prune,
    [STORE_OP_NODE] = apply_node,
    [STORE_OP_JOB] = apply_job,
    [STORE_OP_DISOWN] = apply_disown,
    [STORE_OP_UNACK] = apply_unack,
    [STORE_OP_VALUES] = apply_values,
    [STORE_OP_ARTIFACT] = apply_artifact,
    [STORE_OP_BASELINE] = apply_values,
    [STORE_OP_BASELINE_END] = apply_values,
};

static void set_op_error(struct store_writer *writer, struct store_write *write,
                         const struct store_op *op, int rc)
{
    write->is_failed = true;
    if (op->kind == STORE_OP_IDEMPOTENCY && rc == SQLITE_CONSTRAINT)
        error_set(&write->err, ERROR_CONFLICT, "the idempotency key is taken");
    else if (op->kind == STORE_OP_DELETE && rc == SQLITE_CONSTRAINT)
        error_set(&write->err, ERROR_CONFLICT,
                  "run %s is a baseline: remove that before the run", op->run);
    else if (op->kind == STORE_OP_BASELINE_END && rc == SQLITE_CONSTRAINT)
        error_set(&write->err, ERROR_CONFLICT, "%s is no baseline any more", op->run);
    else if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
        error_set(&write->err, ERROR_NOT_FOUND, "there is no run %s", op->run);
    else
        store_sql_error(&write->err, writer->db, "cannot store");
}

/* Apply all of a write or nothing of it. A fault of its own is noted in it; a result
 * other than SQLITE_OK dooms the transaction. */
static int apply_write(struct store_writer *writer, struct store_write *write)
{
    struct store_op *op;
    int rc = step(writer, SQL_SAVEPOINT);

    write->is_failed = false;
    if (rc != SQLITE_OK)
        return rc;
    STAILQ_FOREACH (op, &write->ops, entry) {
        rc = apply[op->kind](writer, op);
        if (store_sql_is_environment(rc))
            return rc;
        if (rc != SQLITE_OK) {
            set_op_error(writer, write, op, rc);
            rc = step(writer, SQL_UNDO);
            if (rc != SQLITE_OK)
                return rc;
            break;
        }
    }
    return step(writer, SQL_RELEASE);
}

/* ---- One transaction ---- */

static int commit_all(struct store_writer *writer, struct store_write_list *batch,
                      struct error *err)
{
    struct store_write *write;
    int rc = step(writer, SQL_BEGIN);

    if (rc == SQLITE_OK)
        STAILQ_FOREACH (write, batch, entry) {
            rc = apply_write(writer, write);
            if (rc != SQLITE_OK)
                break;
        }
    if (rc == SQLITE_OK)
        rc = step(writer, SQL_COMMIT);
    if (rc == SQLITE_OK)
        return 0;
    store_sql_error(err, writer->db, "cannot store");
    err->code = ERROR_UNAVAILABLE;
    if (!sqlite3_get_autocommit(writer->db))
        store_sql_exec(writer->db, "ROLLBACK");
    return -1;
}

/* Move the writes that nobody asked to retry (all of them with `everything`) from held to
 * *failed. */
static void fail_held(struct store_writer *writer, bool everything,
                      struct store_write_list *failed)
{
    struct store_write_list kept = STAILQ_HEAD_INITIALIZER(kept);

    while (!STAILQ_EMPTY(&writer->held)) {
        struct store_write *write = STAILQ_FIRST(&writer->held);
        STAILQ_REMOVE_HEAD(&writer->held, entry);
        if (write->retry && !everything) {
            STAILQ_INSERT_TAIL(&kept, write, entry);
        } else {
            write->is_failed = true;
            write->err = writer->trouble;
            STAILQ_INSERT_TAIL(failed, write, entry);
        }
    }
    STAILQ_CONCAT(&writer->held, &kept);
}

static void set_trouble(struct store_writer *writer, const struct error *trouble)
{
    if (!writer->trouble.code && trouble->code)
        log_error("the store does not accept writes: %s", trouble->text);
    else if (writer->trouble.code && !trouble->code)
        log_info("the store accepts writes again");
    uv_mutex_lock(&writer->mutex);
    writer->trouble = *trouble;
    uv_mutex_unlock(&writer->mutex);
}

/* Commit what is held; *finished gets what was stored or has failed for good. */
static void commit_held(struct store_writer *writer, bool is_last,
                        struct store_write_list *finished)
{
    struct error err = {ERROR_NONE, ""};

    if (commit_all(writer, &writer->held, &err) == 0) {
        STAILQ_CONCAT(finished, &writer->held);
        writer->is_stuck = false;
        set_trouble(writer, &err);
        return;
    }
    set_trouble(writer, &err);
    fail_held(writer, is_last, finished);
    writer->is_stuck = !STAILQ_EMPTY(&writer->held);
    writer->retry_at_ns = clock_monotonic_ns() + scaled_ns(RETRY_NS);
}

/* ---- The thread ---- */

/* Sleep until there is something to do; move what is queued behind what is held. Returns
 * whether this is the last round. */
static bool wait_for_work(struct store_writer *writer)
{
    bool is_last;

    uv_mutex_lock(&writer->mutex);
    while (STAILQ_EMPTY(&writer->queued) && !writer->is_stopping) {
        int64_t left_ns = writer->retry_at_ns - clock_monotonic_ns();
        if (!writer->is_stuck)
            uv_cond_wait(&writer->changed, &writer->mutex);
        else if (left_ns <= 0)
            break;
        else
            uv_cond_timedwait(&writer->changed, &writer->mutex, (uint64_t)left_ns);
    }
    STAILQ_CONCAT(&writer->held, &writer->queued);
    is_last = writer->is_stopping;
    uv_mutex_unlock(&writer->mutex);
    return is_last;
}

static void hand_back(struct store_writer *writer, struct store_write_list *finished,
                      bool is_last)
{
    uv_mutex_lock(&writer->mutex);
    STAILQ_CONCAT(&writer->finished, finished);
    writer->has_ended = is_last;
    uv_async_send(writer->wake);
    uv_mutex_unlock(&writer->mutex);
}

static void writer_main(void *arg)
{
    struct store_writer *writer = arg;
    bool is_last = false;

    while (!is_last) {
        struct store_write_list finished = STAILQ_HEAD_INITIALIZER(finished);
        is_last = wait_for_work(writer);
        /* Between two tries what came meanwhile keeps its place or fails at once. */
        if (writer->is_stuck && !is_last && clock_monotonic_ns() < writer->retry_at_ns)
            fail_held(writer, false, &finished);
        else if (!STAILQ_EMPTY(&writer->held))
            commit_held(writer, is_last, &finished);
        hand_back(writer, &finished, is_last);
    }
}

static void writer_free(struct store_writer *writer)
{
    store_values_destroy(writer->values);
    store_sql_finalize(writer->stmts, SQL_COUNT);
    sqlite3_close(writer->db);
    uv_cond_destroy(&writer->changed);
    uv_mutex_destroy(&writer->mutex);
    free(writer);
}

struct store_writer *store_writer_create(sqlite3 *db, uv_async_t *wake, struct error *err)
{
    struct store_writer *writer = calloc(1, sizeof(*writer));
    int rc;

    if (!writer) {
        sqlite3_close(db);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    writer->db = db;
    writer->wake = wake;
    STAILQ_INIT(&writer->queued);
    STAILQ_INIT(&writer->finished);
    STAILQ_INIT(&writer->held);
    uv_mutex_init(&writer->mutex);
    uv_cond_init(&writer->changed);
    if (store_sql_prepare(db, statements, SQL_COUNT, writer->stmts, err) < 0)
        goto fail;
    writer->values = store_values_create(db, err);
    if (!writer->values)
        goto fail;
    rc = uv_thread_create(&writer->thread, writer_main, writer);
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot start a thread: %s", uv_strerror(rc));
        goto fail;
    }
    return writer;

fail:
    writer_free(writer);
    return NULL;
}

void store_writer_stop(struct store_writer *writer)
{
    uv_mutex_lock(&writer->mutex);
    writer->is_stopping = true;
    uv_cond_signal(&writer->changed);
    uv_mutex_unlock(&writer->mutex);
}

void store_writer_destroy(struct store_writer *writer)
{
    if (!writer)
        return;
    uv_thread_join(&writer->thread);
    writer_free(writer);
}

void store_writer_submit(struct store_writer *writer, struct store_write *write)
{
    uv_mutex_lock(&writer->mutex);
    STAILQ_INSERT_TAIL(&writer->queued, write, entry);
    uv_cond_signal(&writer->changed);
    uv_mutex_unlock(&writer->mutex);
}

bool store_writer_collect(struct store_writer *writer, struct store_write_list *finished,
                          struct error *trouble)
{
    bool has_ended;

    uv_mutex_lock(&writer->mutex);
    STAILQ_CONCAT(finished, &writer->finished);
    *trouble = writer->trouble;
    has_ended = writer->has_ended;
    uv_mutex_unlock(&writer->mutex);
    return has_ended;
}
