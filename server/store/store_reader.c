/* SPDX-License-Identifier: Apache-2.0 */
/* store_reader.c - runs a reader thread, which executes jobs one after the other on its
 * own connection */
#include "server/store/store_reader.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/store/store_sql.h"

struct store_reader {
    sqlite3 *db;
    uv_thread_t thread;
    uv_async_t *wake;

    uv_mutex_t mutex; /* guards the members below */
    uv_cond_t changed;
    struct store_job_list queued;
    struct store_job_list finished;
    bool is_stopping, has_ended;
};

static bool wait_for_work(struct store_reader *reader, struct store_job_list *batch)
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

/* Return each finished job to the loop immediately. It must not wait for a long job that
 * follows it. */
static void hand_back(struct store_reader *reader, struct store_job *job)
{
    uv_mutex_lock(&reader->mutex);
    STAILQ_INSERT_TAIL(&reader->finished, job, entry);
    uv_async_send(reader->wake);
    uv_mutex_unlock(&reader->mutex);
}

static void reader_main(void *arg)
{
    struct store_reader *reader = arg;
    struct store_job_list batch = STAILQ_HEAD_INITIALIZER(batch);
    bool is_last = false;

    while (!is_last) {
        is_last = wait_for_work(reader, &batch);
        while (!STAILQ_EMPTY(&batch)) {
            struct store_job *job = STAILQ_FIRST(&batch);
            STAILQ_REMOVE_HEAD(&batch, entry);
            if (is_last)
                error_set(&job->err, ERROR_UNAVAILABLE, "the server is stopping");
            job->is_failed = is_last || job->work(reader->db, job->arg, &job->err) != 0;
            hand_back(reader, job);
        }
    }
    uv_mutex_lock(&reader->mutex);
    reader->has_ended = true;
    uv_async_send(reader->wake);
    uv_mutex_unlock(&reader->mutex);
}

static void reader_free(struct store_reader *reader)
{
    sqlite3_close(reader->db);
    uv_cond_destroy(&reader->changed);
    uv_mutex_destroy(&reader->mutex);
    free(reader);
}

struct store_reader *store_reader_create(const char *path, uv_async_t *wake,
                                         struct error *err)
{
    struct store_reader *reader = memory_zeroed(1, sizeof(*reader), "the store");
    int rc;

    reader->wake = wake;
    STAILQ_INIT(&reader->queued);
    STAILQ_INIT(&reader->finished);
    uv_mutex_init(&reader->mutex);
    uv_cond_init(&reader->changed);
    if (store_sql_open(path, &reader->db, err) < 0)
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

void store_reader_submit(struct store_reader *reader, struct store_job *job)
{
    uv_mutex_lock(&reader->mutex);
    STAILQ_INSERT_TAIL(&reader->queued, job, entry);
    uv_cond_signal(&reader->changed);
    uv_mutex_unlock(&reader->mutex);
}

bool store_reader_collect(struct store_reader *reader, struct store_job_list *finished)
{
    bool has_ended;

    uv_mutex_lock(&reader->mutex);
    STAILQ_CONCAT(finished, &reader->finished);
    has_ended = reader->has_ended;
    uv_mutex_unlock(&reader->mutex);
    return has_ended;
}
