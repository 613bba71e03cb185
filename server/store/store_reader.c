/* store_reader.c - the reader thread: answers queries one after the other on a connection
 * of its own */
#include "server/store/store_reader.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "server/store/artifacts_read.h"
#include "server/store/event_row.h"
#include "server/store/run_doc.h"
#include "server/store/runs_read.h"
#include "server/store/store_results.h"
#include "server/store/store_sql.h"
#include "server/store/trends_read.h"

#define TEXT_SOFT_MAX ((size_t)1 << 20)

static const char *const statements[STORE_READ_STATEMENTS] = {
    [STORE_READ_RUN] = "SELECT doc FROM runs WHERE id = ?1",
    [STORE_READ_EVENTS] = "SELECT " EVENT_ROW " FROM events WHERE run = ?1"
                          " AND id > ?2 AND (?3 IS NULL OR (type = ?3"
                          "  AND (type <> 'result' OR EXISTS"
                          "   (SELECT 1 FROM results WHERE run = ?1 AND event = id))))"
                          " ORDER BY id LIMIT ?4",
    [STORE_READ_LOGS] = "SELECT seq, time_ms, case_no, rank, stream, text FROM logs"
                        " WHERE run = ?1 AND seq > ?2 AND (?3 < 0 OR case_no = ?3)"
                        " AND (?4 < 0 OR rank = ?4) ORDER BY seq LIMIT ?5",
    [STORE_READ_COMPLETED] = ("SELECT doc FROM runs WHERE state = 'completed'"
                              " AND length(doc) < 262144"
                              " ORDER BY created_ms DESC, id DESC LIMIT ?1"),
    [STORE_READ_VERDICTS] =
        ("SELECT json_object('name', name, 'ended', json_extract(doc, '$.ended'),"
         " 'verdict', json_extract(doc, '$.verdict')) FROM (SELECT name, doc FROM runs"
         " WHERE state IN ('completed', 'failed', 'cancelled') AND length(doc) < 1048576"
         " ORDER BY created_ms DESC, id DESC LIMIT ?1)"
         " WHERE json_extract(doc, '$.verdict') IS NOT NULL"),
    [STORE_READ_JOBS] = "SELECT doc FROM jobs ORDER BY id LIMIT ?1",
    [STORE_READ_NODE] = "SELECT time_ms, state, detail FROM node_events WHERE node = ?1"
                        " ORDER BY id DESC",
};

struct store_reader {
    sqlite3 *db;
    sqlite3_stmt *stmts[STORE_READ_STATEMENTS];
    uv_thread_t thread;
    uv_async_t *wake;

    uv_mutex_t mutex; /* guards what follows */
    uv_cond_t changed;
    struct store_read_list queued;
    struct store_read_list finished;
    bool is_stopping, has_ended;
};

/* ---- One question ---- */

/* Append a stored document to an array. */
static void append_doc(struct store_read *read, json_t *array, sqlite3_stmt *stmt,
                       int column)
{
    json_t *doc = store_sql_json(stmt, column, &read->err);

    if (!doc)
        read->is_failed = true;
    else if (json_array_append_new(array, doc) < 0)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
}

/* With all its cases. */
static void take_run(struct store_read *read, sqlite3_stmt *stmt)
{
    json_t *doc = run_doc_read(stmt, 0, &read->err);

    if (!doc)
        read->is_failed = true;
    else if (json_array_append_new(read->result, doc) < 0)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
}

static void take_event_row(struct store_read *read, sqlite3_stmt *stmt)
{
    struct store_event event;

    if (event_row_read(stmt, &event, &read->err))
        read->is_failed = true;
    else if (store_events_add(read->events, &event))
        store_read_fail(read, ERROR_MEMORY, "out of memory");
}

/* A full page is followed by another, which may turn out to be empty. */
static void take_log_row(struct store_read *read, sqlite3_stmt *stmt)
{
    const struct store_log log = {
        .seq = sqlite3_column_int64(stmt, 0),
        .time_ms = sqlite3_column_int64(stmt, 1),
        .case_no = sqlite3_column_int(stmt, 2),
        .rank = sqlite3_column_int(stmt, 3),
        .stream = store_sql_text(stmt, 4),
        .text = store_sql_text(stmt, 5),
        .len = (size_t)sqlite3_column_bytes(stmt, 5),
    };

    if (read->logs_query.put(&log, &read->text))
        store_read_fail(read, ERROR_MEMORY, "out of memory");
    if (++read->count == (size_t)read->logs_query.limit ||
        read->text.len >= TEXT_SOFT_MAX)
        read->next = log.seq;
}

static void take_node_row(struct store_read *read, sqlite3_stmt *stmt)
{
    char time[CLOCK_TEXT_MAX];
    json_t *change = json_pack("{s:s, s:s, s:s?}", "time",
                               clock_format_ms(sqlite3_column_int64(stmt, 0), time),
                               "state", store_sql_text(stmt, 1), "detail",
                               (const char *)sqlite3_column_text(stmt, 2));

    if (!change || json_array_append_new(read->result, change) < 0)
        store_read_fail(read, ERROR_MEMORY, "out of memory");
}

static void take_row(struct store_read *read, sqlite3_stmt *stmt)
{
    switch (read->kind) {
    case STORE_READ_RUN:
        take_run(read, stmt);
        break;
    case STORE_READ_COMPLETED:
    case STORE_READ_VERDICTS:
    case STORE_READ_JOBS:
        append_doc(read, read->result, stmt, 0);
        break;
    case STORE_READ_NODE:
        take_node_row(read, stmt);
        break;
    case STORE_READ_EVENTS:
        take_event_row(read, stmt);
        break;
    case STORE_READ_LOGS:
        take_log_row(read, stmt);
        break;
    case STORE_READ_RUNS:
    case STORE_READ_OLD:
    case STORE_READ_DUE:
    case STORE_READ_TRENDS:
    case STORE_READ_BASELINES:
    case STORE_READ_BASE:
    case STORE_READ_ARTIFACTS:
    case STORE_READ_TEXTS:
    case STORE_READ_SUMMARY:
    case STORE_READ_ROWS:
        break;
    }
}

static void bind_read(const struct store_read *read, sqlite3_stmt *stmt)
{
    switch (read->kind) {
    case STORE_READ_RUN:
    case STORE_READ_NODE:
        store_sql_bind_text(stmt, 1, read->run);
        break;
    case STORE_READ_COMPLETED:
    case STORE_READ_VERDICTS:
    case STORE_READ_JOBS:
        sqlite3_bind_int(stmt, 1, read->limit);
        break;
    case STORE_READ_EVENTS:
        store_sql_bind_text(stmt, 1, read->run);
        sqlite3_bind_int64(stmt, 2, read->after);
        store_sql_bind_text(stmt, 3, read->type);
        sqlite3_bind_int(stmt, 4, read->limit);
        break;
    case STORE_READ_LOGS:
        store_sql_bind_text(stmt, 1, read->run);
        sqlite3_bind_int64(stmt, 2, read->logs_query.after);
        sqlite3_bind_int(stmt, 3, read->logs_query.case_no);
        sqlite3_bind_int(stmt, 4, read->logs_query.rank);
        sqlite3_bind_int(stmt, 5, read->logs_query.limit);
        break;
    case STORE_READ_RUNS:
    case STORE_READ_OLD:
    case STORE_READ_DUE:
    case STORE_READ_TRENDS:
    case STORE_READ_BASELINES:
    case STORE_READ_BASE:
    case STORE_READ_ARTIFACTS:
    case STORE_READ_TEXTS:
    case STORE_READ_SUMMARY:
    case STORE_READ_ROWS:
        break;
    }
}

/* The run itself instead of an array of one. */
static void unwrap_run(struct store_read *read)
{
    json_t *run = json_incref(json_array_get(read->result, 0));

    json_decref(read->result);
    read->result = run;
    if (!run)
        store_read_fail(read, ERROR_NOT_FOUND, "there is no such run");
}

/* The questions that take more than a statement. */
static void answer_records(sqlite3 *db, struct store_read *read)
{
    if (read->kind == STORE_READ_SUMMARY) {
        read->summary = summary_read(db, &read->summary_query, &read->err);
        read->is_failed = !read->summary;
    } else {
        read->events = rows_read(db, &read->rows_query, &read->err);
        read->is_failed = !read->events;
    }
}

/* What the answer's rows are put into. */
static bool make_answer(struct store_read *read)
{
    if (read->kind == STORE_READ_EVENTS) {
        read->events = store_events_create();
        return read->events;
    }
    read->result = json_array();
    return read->result;
}

static void answer_statement(sqlite3 *db, sqlite3_stmt *stmt, struct store_read *read)
{
    int rc = SQLITE_OK;

    if (!make_answer(read))
        store_read_fail(read, ERROR_MEMORY, "out of memory");
    bind_read(read, stmt);
    while (!read->is_failed && store_read_bytes(read) < TEXT_SOFT_MAX) {
        rc = sqlite3_step(stmt);
        if (rc != SQLITE_ROW)
            break;
        take_row(read, stmt);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && !read->is_failed) {
        read->is_failed = true;
        store_sql_error(&read->err, db, "cannot read");
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    if (read->kind == STORE_READ_RUN && !read->is_failed)
        unwrap_run(read);
}

static void answer(sqlite3 *db, sqlite3_stmt *const *stmts, struct store_read *read)
{
    if (read->kind < STORE_READ_STATEMENTS)
        answer_statement(db, stmts[read->kind], read);
    else if (read->kind == STORE_READ_RUNS)
        runs_answer(db, read);
    else if (read->kind == STORE_READ_OLD)
        runs_answer_old(db, read);
    else if (read->kind == STORE_READ_ARTIFACTS || read->kind == STORE_READ_TEXTS)
        artifacts_answer(db, read);
    else if (read->kind < STORE_READ_LONG)
        trends_answer(db, read);
    else
        answer_records(db, read);
}

void store_read_now(const char *path, struct store_read *read)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    if (store_sql_open(path, &db, &read->err) < 0 ||
        store_sql_prepare(db, &statements[read->kind], 1, &stmt, &read->err) < 0)
        read->is_failed = true;
    else
        answer_statement(db, stmt, read);
    store_sql_finalize(&stmt, 1);
    sqlite3_close(db);
}

/* ---- The thread ---- */

static bool wait_for_work(struct store_reader *reader, struct store_read_list *batch)
{
    bool is_last;

    uv_mutex_lock(&reader->mutex);
    while (STAILQ_EMPTY(&reader->queued) && !reader->is_stopping)
        uv_cond_wait(&reader->changed, &reader->mutex);
    STAILQ_CONCAT(batch, &reader->queued);
    is_last = reader->is_stopping;
    uv_mutex_unlock(&reader->mutex);
    return is_last;
}

/* Each answer goes back at once: a long one must not delay those before it. */
static void hand_back(struct store_reader *reader, struct store_read *read)
{
    uv_mutex_lock(&reader->mutex);
    STAILQ_INSERT_TAIL(&reader->finished, read, entry);
    uv_async_send(reader->wake);
    uv_mutex_unlock(&reader->mutex);
}

static void reader_main(void *arg)
{
    struct store_reader *reader = arg;
    struct store_read_list batch = STAILQ_HEAD_INITIALIZER(batch);
    bool is_last = false;

    while (!is_last) {
        is_last = wait_for_work(reader, &batch);
        while (!STAILQ_EMPTY(&batch)) {
            struct store_read *read = STAILQ_FIRST(&batch);
            STAILQ_REMOVE_HEAD(&batch, entry);
            if (is_last)
                store_read_fail(read, ERROR_UNAVAILABLE, "the server is stopping");
            if (!read->is_failed)
                answer(reader->db, reader->stmts, read);
            hand_back(reader, read);
        }
    }
    uv_mutex_lock(&reader->mutex);
    reader->has_ended = true;
    uv_async_send(reader->wake);
    uv_mutex_unlock(&reader->mutex);
}

static void reader_free(struct store_reader *reader)
{
    store_sql_finalize(reader->stmts, STORE_READ_STATEMENTS);
    sqlite3_close(reader->db);
    uv_cond_destroy(&reader->changed);
    uv_mutex_destroy(&reader->mutex);
    free(reader);
}

struct store_reader *store_reader_create(const char *path, uv_async_t *wake,
                                         struct error *err)
{
    struct store_reader *reader = calloc(1, sizeof(*reader));
    int rc;

    if (!reader) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    reader->wake = wake;
    STAILQ_INIT(&reader->queued);
    STAILQ_INIT(&reader->finished);
    uv_mutex_init(&reader->mutex);
    uv_cond_init(&reader->changed);
    if (store_sql_open(path, &reader->db, err) < 0 ||
        store_sql_prepare(reader->db, statements, STORE_READ_STATEMENTS, reader->stmts,
                          err) < 0)
        goto fail;
    rc = uv_thread_create(&reader->thread, reader_main, reader);
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot start a thread: %s", uv_strerror(rc));
        goto fail;
    }
    return reader;

fail:
    reader_free(reader);
    return NULL;
}

void store_reader_stop(struct store_reader *reader)
{
    uv_mutex_lock(&reader->mutex);
    reader->is_stopping = true;
    uv_cond_signal(&reader->changed);
    uv_mutex_unlock(&reader->mutex);
}

void store_reader_destroy(struct store_reader *reader)
{
    if (!reader)
        return;
    uv_thread_join(&reader->thread);
    reader_free(reader);
}

void store_reader_submit(struct store_reader *reader, struct store_read *read)
{
    uv_mutex_lock(&reader->mutex);
    STAILQ_INSERT_TAIL(&reader->queued, read, entry);
    uv_cond_signal(&reader->changed);
    uv_mutex_unlock(&reader->mutex);
}

bool store_reader_collect(struct store_reader *reader, struct store_read_list *finished)
{
    bool has_ended;

    uv_mutex_lock(&reader->mutex);
    STAILQ_CONCAT(finished, &reader->finished);
    has_ended = reader->has_ended;
    uv_mutex_unlock(&reader->mutex);
    return has_ended;
}
