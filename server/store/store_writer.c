/* SPDX-License-Identifier: Apache-2.0 */
/* store_writer.c - runs the writer thread, which commits all queued writes as one
 * transaction and returns them to the loop */
#include "server/store/store_writer.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "server/store/store_ops.h"
#include "server/store/store_sql.h"

#define RETRY_NS INT64_C(1000000000)

enum { SQL_BEGIN, SQL_COMMIT, SQL_SAVEPOINT, SQL_UNDO, SQL_RELEASE, SQL_COUNT };

static const char *const statements[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",   [SQL_COMMIT] = "COMMIT",
    [SQL_SAVEPOINT] = "SAVEPOINT one", [SQL_UNDO] = "ROLLBACK TO one",
    [SQL_RELEASE] = "RELEASE one",
};

struct store_writer {
    sqlite3 *db;
    sqlite3_stmt *stmts[SQL_COUNT];
    struct store_ops *ops;
    uv_thread_t thread;
    uv_async_t *wake;

    uv_mutex_t mutex; /* guards the members up to the blank line */
    uv_cond_t changed;
    struct store_write_list queued;
    struct store_write_list finished;
    struct error trouble;
    bool is_stopping, has_ended;

    /* Used by the thread alone: writes that are not committed yet, in order. */
    struct store_write_list held;
    int64_t retry_at_ns;
    bool is_stuck;
};

/* ---- One write ---- */

static int step(struct store_writer *writer, int which)
{
    return store_sql_step(writer->stmts[which]);
}

/* Apply a write completely or not at all. If the write itself is invalid, the error is
 * stored in its err. If the result is not SQLITE_OK, the transaction must be aborted. */
static int apply_write(struct store_writer *writer, struct store_write *write)
{
    struct store_op *op;
    int rc = step(writer, SQL_SAVEPOINT);

    write->is_failed = false;
    if (rc != SQLITE_OK)
        return rc;
    STAILQ_FOREACH (op, &write->ops, entry) {
        rc = store_ops_apply(writer->ops, op);
        if (store_sql_is_environment(rc))
            return rc;
        if (rc != SQLITE_OK) {
            write->is_failed = true;
            store_ops_error(writer->ops, op, rc, &write->err);
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
    store_sql_error(err, writer->db, "cannot write the database");
    err->code = ERROR_UNAVAILABLE;
    if (!sqlite3_get_autocommit(writer->db))
        store_sql_exec(writer->db, "ROLLBACK");
    return -1;
}

/* Move the held writes that do not set `retry` to *failed. With `everything`, move all
 * held writes. */
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

/* Commit the held writes. *finished receives the writes that were stored or that failed
 * permanently. */
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

/* Sleep until there is work, and append the queued writes to the held ones. Returns true
 * in the last iteration. */
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
        /* Until the next attempt, new writes that set `retry` wait, and other writes fail
         * immediately. */
        if (writer->is_stuck && !is_last && clock_monotonic_ns() < writer->retry_at_ns)
            fail_held(writer, false, &finished);
        else if (!STAILQ_EMPTY(&writer->held))
            commit_held(writer, is_last, &finished);
        hand_back(writer, &finished, is_last);
    }
}

static void writer_free(struct store_writer *writer)
{
    store_ops_destroy(writer->ops);
    store_sql_finalize(writer->stmts, SQL_COUNT);
    sqlite3_close(writer->db);
    uv_cond_destroy(&writer->changed);
    uv_mutex_destroy(&writer->mutex);
    free(writer);
}

struct store_writer *store_writer_create(sqlite3 *db, uv_async_t *wake, struct error *err)
{
    struct store_writer *writer = memory_zeroed(1, sizeof(*writer), "the store");
    int rc;

    writer->db = db;
    writer->wake = wake;
    STAILQ_INIT(&writer->queued);
    STAILQ_INIT(&writer->finished);
    STAILQ_INIT(&writer->held);
    uv_mutex_init(&writer->mutex);
    uv_cond_init(&writer->changed);
    if (store_sql_prepare(db, statements, SQL_COUNT, writer->stmts, err) < 0)
        goto fail;
    writer->ops = store_ops_create(db, err);
    if (!writer->ops)
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
