/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - the part of the store that runs on the loop's thread */
#include "server/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "common/base/units.h"
#include "server/store/store_ops.h"
#include "server/store/store_reader.h"
#include "server/store/store_recall.h"
#include "server/store/store_sql.h"
#include "server/store/store_trends.h"
#include "server/store/store_writer.h"

#define DISK_CHECK_MS 1000
#define EXPIRE_EVERY 60  /* disk checks */
#define PRUNE_EVERY 3600 /* disk checks */
#define DAY_MS INT64_C(86400000)
#define RESERVE_BYTES ((uint64_t)64 << 20)
/* Maximum number of jobs whose callbacks run in one turn of the loop. Preparing a large
 * result for sending, such as a page of events, takes a few milliseconds. */
#define JOBS_PER_TURN 2
/* Maximum number of events whose callbacks run in one turn of the loop. A case's agents
 * report at the same time, and passing an event to its watchers takes 15 to 30 us. */
#define WRITTEN_PER_TURN 256

enum { SQL_ACKED, SQL_KEY, SQL_COUNT };

static const char *const lookups[SQL_COUNT] = {
    [SQL_ACKED] = "SELECT seq FROM acks WHERE boot_id = ?1",
    [SQL_KEY] = "SELECT run, body_hash FROM idempotency"
                " WHERE key = ?1 AND created_ms >= ?2",
};

struct store {
    uv_async_t wake;
    uv_timer_t timer;
    char *dir, *path;
    int lock_fd;
    sqlite3 *db; /* connection for lookups on the loop's thread */
    sqlite3_stmt *lookups[SQL_COUNT];
    struct store_writer *writer;
    struct store_reader *readers[STORE_THREADS];
    struct store_write_list written; /* done; callbacks have not run */
    struct store_job_list worked;    /* done; callbacks have not run */
    size_t n_writes, n_jobs;         /* writes and jobs whose callbacks have not run */
    struct error trouble;            /* the writer's latest error */
    char disk_trouble[256];
    char damage[256]; /* why stored data cannot be read, or "" */
    uint64_t reserve_bytes;
    unsigned ticks;
    int64_t keep_runs, keep_days; /* 0: no limit */
    struct histogram took;        /* time from a write's submission to its callback */
    bool is_expiring;
    size_t n_expired; /* number of expired runs deleted in this round */
    unsigned open_handles;
    bool is_closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void on_wake(uv_async_t *wake);
static bool finish_writes(struct store *store, size_t most);
static bool finish_jobs(struct store *store, size_t most);

/* ---- Opening ---- */

static int make_dir(const char *dir, struct error *err)
{
    char *path = memory_text(dir, "the store");
    int rc = 0;

    for (char *at = path + 1; rc == 0 && *at; at++)
        if (*at == '/') {
            *at = '\0';
            rc = mkdir(path, 0755) < 0 && errno != EEXIST ? -1 : 0;
            *at = '/';
        }
    if (rc < 0 || (mkdir(path, 0700) < 0 && errno != EEXIST))
        rc = error_set_errno(err, ERROR_IO, errno, "cannot create the directory %s", dir);
    free(path);
    return rc;
}

/* Lock the data directory. The lock file contains its owner's process id, which a second
 * server shows in its error. */
static int take_lock(struct store *store, struct error *err)
{
    char path[4096], holder[32] = "";
    ssize_t len;

    snprintf(path, sizeof(path), "%s/ringbench.lock", store->dir);
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot open %s", path);
    if (flock(store->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return error_set_errno(err, ERROR_IO, errno, "cannot lock %s", path);
        len = read(store->lock_fd, holder, sizeof(holder) - 1);
        holder[len > 0 ? strspn(holder, "0123456789") : 0] = '\0';
        return error_set(err, ERROR_CONFLICT, "%s is in use by process %s", store->dir,
                         *holder ? holder : "(unknown)");
    }
    len = snprintf(holder, sizeof(holder), "%d\n", (int)getpid());
    if (ftruncate(store->lock_fd, 0) < 0 ||
        pwrite(store->lock_fd, holder, (size_t)len, 0) < 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot write %s", path);
    return 0;
}

static void check_disk(struct store *store)
{
    struct statvfs fs;
    char free_text[UNITS_TEXT_MAX], reserve_text[UNITS_TEXT_MAX];
    bool had_room = !store->disk_trouble[0];
    uint64_t free_bytes;

    store->disk_trouble[0] = '\0';
    if (statvfs(store->dir, &fs) < 0) {
        snprintf(store->disk_trouble, sizeof(store->disk_trouble),
                 "cannot read the free space of the data directory: %s", strerror(errno));
    } else {
        free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
        if (free_bytes < store->reserve_bytes)
            snprintf(store->disk_trouble, sizeof(store->disk_trouble),
                     "the disk of the data directory is full: %s free, %s needed",
                     units_format_human(free_bytes, free_text),
                     units_format_human(store->reserve_bytes, reserve_text));
    }
    if (had_room && store->disk_trouble[0])
        log_warn("%s", store->disk_trouble);
}

static void expire_next(struct store *store);

static void on_expired(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct store *store = arg;

    (void)events, (void)n_events;
    store->n_expired += !err;
    if (!err && !store->is_closing) {
        expire_next(store);
        return;
    }
    if (err && err->code != ERROR_NOT_FOUND && !store->is_closing)
        log_warn("cannot delete old runs: %s", err->text);
    if (store->n_expired > 0)
        log_info("deleted %zu old runs", store->n_expired);
    store->n_expired = 0;
    store->is_expiring = false;
}

static void expire_next(struct store *store)
{
    struct store_write *write = store_write_create();
    int64_t days = store->keep_days;

    store->is_expiring = true;
    store_write_expire(write, store->keep_runs,
                       days > 0 ? clock_wall_ms() - days * DAY_MS : 0);
    store_submit(store, write, false, on_expired, store);
}

void store_keep(struct store *store, int64_t runs, int64_t days)
{
    store->keep_runs = runs;
    store->keep_days = days;
    if (runs > 0 || days > 0)
        expire_next(store);
}

static void on_timer(uv_timer_t *timer)
{
    struct store *store = timer->data;
    bool has_limit = store->keep_runs > 0 || store->keep_days > 0;
    struct store_write *write;
    int64_t now_ms = clock_wall_ms();

    check_disk(store);
    if (has_limit && !store->is_expiring && store->ticks % EXPIRE_EVERY == 0)
        expire_next(store);
    if (store->ticks++ % PRUNE_EVERY)
        return;
    write = store_write_create();
    store_write_prune(write, now_ms - STORE_ACK_KEEP_MS,
                      now_ms - STORE_IDEMPOTENCY_KEEP_MS);
    store_submit(store, write, false, NULL, NULL);
}

static void store_free(struct store *store)
{
    store_sql_finalize(store->lookups, SQL_COUNT);
    sqlite3_close(store->db);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->path);
    free(store->dir);
    free(store);
}

static struct store *store_alloc(const char *dir)
{
    const char *reserve = getenv("RINGBENCH_STORE_RESERVE_BYTES");
    struct store *store = memory_zeroed(1, sizeof(*store), "the store");

    store->lock_fd = -1;
    STAILQ_INIT(&store->written);
    STAILQ_INIT(&store->worked);
    store->reserve_bytes = reserve ? strtoull(reserve, NULL, 10) : RESERVE_BYTES;
    store->dir = memory_text(dir, "the store");
    if (asprintf(&store->path, "%s/ringbench.db", dir) < 0)
        memory_out("the store");
    return store;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct store *store = handle->data;
    void (*closed)(void *arg) = store->closed;
    void *arg = store->closed_arg;

    if (--store->open_handles)
        return;
    finish_writes(store, SIZE_MAX);
    finish_jobs(store, SIZE_MAX);
    store_free(store);
    if (closed)
        closed(arg);
}

static void close_handles(struct store *store)
{
    uv_close((uv_handle_t *)&store->wake, on_handle_closed);
    uv_close((uv_handle_t *)&store->timer, on_handle_closed);
}

static int start_handles(struct store *store, uv_loop_t *loop, struct error *err)
{
    int rc = uv_async_init(loop, &store->wake, on_wake);

    if (rc < 0)
        return error_set(err, ERROR_IO,
                         "cannot create the wake-up handle of the store's threads: %s",
                         uv_strerror(rc));
    uv_timer_init(loop, &store->timer);
    store->wake.data = store;
    store->timer.data = store;
    store->open_handles = 2;
    uv_timer_start(&store->timer, on_timer, scaled_ms(DISK_CHECK_MS),
                   scaled_ms(DISK_CHECK_MS));
    uv_unref((uv_handle_t *)&store->timer);
    return 0;
}

static void stop_threads(struct store *store)
{
    store_writer_stop(store->writer);
    for (int i = 0; i < STORE_THREADS && store->readers[i]; i++)
        store_reader_stop(store->readers[i]);
}

static void destroy_threads(struct store *store)
{
    store_writer_destroy(store->writer);
    for (int i = 0; i < STORE_THREADS; i++)
        store_reader_destroy(store->readers[i]);
}

/* Start the threads, as the last step of opening. If this fails, the uv handles exist
 * already and are closed in a later turn of the loop. */
static int start_threads(struct store *store, sqlite3 *db, struct error *err)
{
    store->writer = store_writer_create(db, &store->wake, err);
    if (!store->writer)
        return -1;
    for (int i = 0; i < STORE_THREADS; i++) {
        store->readers[i] = store_reader_create(store->path, &store->wake, err);
        if (!store->readers[i]) {
            stop_threads(store);
            destroy_threads(store);
            return -1;
        }
    }
    return 0;
}

/* Delete inventories that no run uses. Call only at start: a running server may have told
 * a node that an inventory is stored, and the node's next run refers to it. */
static int drop_unused(sqlite3 *db, struct error *err)
{
    return store_sql_exec(db, "DELETE FROM contents WHERE digest NOT IN"
                              " (SELECT digest FROM artifacts)") == SQLITE_OK
               ? 0
               : store_sql_error(err, db, "cannot delete unused inventories");
}

struct store *store_open(uv_loop_t *loop, const char *dir, struct error *err)
{
    struct store *store = store_alloc(dir);
    sqlite3 *db = NULL;

    if (make_dir(dir, err) < 0 || take_lock(store, err) < 0 ||
        store_sql_open(store->path, &db, err) < 0 ||
        store_sql_set_up(db, store->path, err) < 0 ||
        store_ops_renew_values(db, err) < 0 || drop_unused(db, err) < 0 ||
        store_sql_open(store->path, &store->db, err) < 0 ||
        store_sql_prepare(store->db, lookups, SQL_COUNT, store->lookups, err) < 0 ||
        start_handles(store, loop, err) < 0) {
        sqlite3_close(db);
        store_free(store);
        return NULL;
    }
    if (start_threads(store, db, err) < 0) {
        close_handles(store);
        return NULL;
    }
    check_disk(store);
    return store;
}

/* ---- Finished writes and jobs ---- */

static void finish_write(struct store *store, struct store_write *write)
{
    struct store_event *events =
        memory_zeroed(write->n_events + 1, sizeof(*events), "events");
    const struct store_op *op;
    size_t n = 0;

    STAILQ_FOREACH (op, &write->ops, entry)
        if (op->kind == STORE_OP_EVENT)
            events[n++] = op->event;
    if (write->done)
        write->done(write->arg, write->is_failed ? &write->err : NULL,
                    write->is_failed ? NULL : events, write->is_failed ? 0 : n);
    free(events);
    store->n_writes--;
    store_write_destroy(write);
}

/* Keep the message about a damaged database, even if the next read succeeds. */
static void note_damage(struct store *store, const struct error *err)
{
    if (err->code != ERROR_IO || store->damage[0])
        return;
    snprintf(store->damage, sizeof(store->damage),
             "the database cannot be read (%.120s): stop the server, check the disk, "
             "restore a backup",
             err->text);
    log_error("%s", store->damage);
}

static void finish_job(struct store *store, struct store_job *job)
{
    const struct error *err = job->is_failed ? &job->err : NULL;

    if (err)
        note_damage(store, err);
    job->worked(job->arg, err);
    store->n_jobs--;
    free(job);
}

/* Run callbacks of writes until about `most` events are handled. Return true if no write
 * is left. */
static bool finish_writes(struct store *store, size_t most)
{
    struct store_write *write;

    while ((write = STAILQ_FIRST(&store->written)) && most > 0) {
        /* a write takes as long as two events, in addition to its events */
        size_t share = 2 + write->n_events;

        most -= share < most ? share : most;
        STAILQ_REMOVE_HEAD(&store->written, entry);
        histogram_add(&store->took, histogram_quick,
                      (double)(clock_monotonic_ns() - write->submitted_ns) / 1e9);
        finish_write(store, write);
    }
    return !write;
}

/* Run callbacks of at most `most` jobs. Return true if no job is left. */
static bool finish_jobs(struct store *store, size_t most)
{
    struct store_job *job;

    while ((job = STAILQ_FIRST(&store->worked)) && most > 0) {
        STAILQ_REMOVE_HEAD(&store->worked, entry);
        most--;
        finish_job(store, job);
    }
    return !job;
}

static void on_wake(uv_async_t *wake)
{
    struct store *store = wake->data;
    bool have_ended =
        store_writer_collect(store->writer, &store->written, &store->trouble);
    bool no_writes, no_jobs;

    for (int i = 0; i < STORE_THREADS; i++)
        have_ended &= store_reader_collect(store->readers[i], &store->worked);

    no_writes = finish_writes(store, WRITTEN_PER_TURN);
    no_jobs = finish_jobs(store, JOBS_PER_TURN);
    if (!no_writes || !no_jobs) {
        uv_async_send(wake);
        return;
    }
    if (!have_ended || uv_is_closing((uv_handle_t *)&store->wake))
        return;
    destroy_threads(store);
    close_handles(store);
}

void store_close(struct store *store, void (*closed)(void *arg), void *arg)
{
    store->closed = closed;
    store->closed_arg = arg;
    store->is_closing = true;
    stop_threads(store);
}

const char *store_trouble(const struct store *store)
{
    if (store->trouble.code)
        return store->trouble.text;
    if (store->damage[0])
        return store->damage;
    return store->disk_trouble[0] ? store->disk_trouble : NULL;
}

bool store_takes_writes(const struct store *store)
{
    return !store->trouble.code;
}

/* ---- Requests ---- */

void store_submit(struct store *store, struct store_write *write, bool retry,
                  store_written *done, void *arg)
{
    write->submitted_ns = clock_monotonic_ns();
    write->retry = retry;
    write->done = done;
    write->arg = arg;
    store->n_writes++;
    if (store->is_closing && !write->is_failed) {
        write->is_failed = true;
        error_set(&write->err, ERROR_UNAVAILABLE, "the server is stopping");
    }
    if (write->is_failed) {
        STAILQ_INSERT_TAIL(&store->written, write, entry);
        uv_async_send(&store->wake);
    } else {
        store_writer_submit(store->writer, write);
    }
}

static uint64_t bytes_of(const char *path, const char *suffix)
{
    char full[PATH_MAX];
    struct stat file;

    snprintf(full, sizeof(full), "%s%s", path, suffix);
    return stat(full, &file) == 0 ? (uint64_t)file.st_size : 0;
}

void store_counters(const struct store *store, struct store_counters *out)
{
    struct statvfs disk;

    out->database_bytes = bytes_of(store->path, "");
    out->log_bytes = bytes_of(store->path, "-wal");
    out->free_bytes = statvfs(store->dir, &disk) == 0
                          ? (uint64_t)disk.f_bavail * (uint64_t)disk.f_frsize
                          : 0;
    out->writes = store->n_writes;
    out->written = store->took;
}

struct settlement {
    store_settled *done;
    void *arg;
};

static void on_settled(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    struct settlement *settlement = arg;

    (void)events, (void)n_events;
    settlement->done(settlement->arg, err);
    free(settlement);
}

void store_settle(struct store *store, store_settled *done, void *arg)
{
    struct settlement *settlement;

    if (store->n_writes == 0 || !store_takes_writes(store)) {
        done(arg, NULL);
        return;
    }
    settlement = memory_zeroed(1, sizeof(*settlement), "a settlement");
    *settlement = (struct settlement){done, arg};
    /* Submit an empty write: callbacks run in the order in which writes were queued. */
    store_submit(store, store_write_create(), false, on_settled, settlement);
}

bool store_is_idle(const struct store *store)
{
    return store->n_writes == 0 && store->n_jobs == 0;
}

void store_do(struct store *store, store_work *work, store_worked *worked, void *arg)
{
    store_do_on(store, STORE_LONG, work, worked, arg);
}

void store_do_on(struct store *store, enum store_thread thread, store_work *work,
                 store_worked *worked, void *arg)
{
    struct store_job *job = memory_zeroed(1, sizeof(*job), "a job of the store");

    *job = (struct store_job){.work = work, .worked = worked, .arg = arg};
    store->n_jobs++;
    if (!store->is_closing) {
        store_reader_submit(store->readers[thread], job);
        return;
    }
    job->is_failed = true;
    error_set(&job->err, ERROR_UNAVAILABLE, "the server is stopping");
    STAILQ_INSERT_TAIL(&store->worked, job, entry);
    uv_async_send(&store->wake);
}

/* ---- At start ---- */

static const char SQL_VERDICTS[] =
    "SELECT json_object('name', name, 'ended', json_extract(doc, '$.ended'),"
    " 'verdict', json(gate)) AS \":json\" FROM (SELECT name, doc, (SELECT value FROM"
    "  json_each(doc, '$.verdicts') WHERE json_extract(value, '$.kind') = 'gate') AS gate"
    " FROM runs"
    " WHERE state IN " STORE_SQL_ENDED " AND length(doc) < 1048576"
    " ORDER BY created_ms DESC, id DESC LIMIT :limit)"
    " WHERE gate IS NOT NULL";

int store_recall_runs(struct store *store, bool has_ended, store_run_taker *take,
                      void *arg, struct error *err)
{
    return store_recall_from(store->path, has_ended, take, arg, err);
}

json_t *store_load_verdicts(struct store *store, int limit, struct error *err)
{
    return store_recall_docs(store->path, SQL_VERDICTS, limit, err);
}

static const char SQL_LAST_VALUES[] =
    "SELECT json_object('name', name, 'created_ms', runs.created_ms, 'backend', backend,"
    "  'values',"
    "  json_group_array(json_object('figure', text, 'value', value))) AS \":json\""
    " FROM (SELECT id, name, created_ms FROM runs WHERE state = 'completed'"
    "  ORDER BY created_ms DESC, id DESC LIMIT :limit) AS runs"
    " JOIN run_values ON run_values.run = runs.id JOIN texts ON texts.id = figure"
    " GROUP BY runs.id";

json_t *store_load_values(struct store *store, int limit, struct error *err)
{
    return store_recall_docs(store->path, SQL_LAST_VALUES, limit, err);
}

json_t *store_load_jobs(struct store *store, struct error *err)
{
    return store_recall_docs(store->path,
                             "SELECT doc AS \":json\" FROM jobs ORDER BY id LIMIT :limit",
                             -1, err);
}

json_t *store_load_watched(struct store *store, struct error *err)
{
    return store_recall_docs(store->path,
                             "SELECT doc AS \":json\" FROM watched ORDER BY kind, id"
                             " LIMIT :limit",
                             -1, err);
}

/* ---- Lookups on the loop's thread ---- */

int store_acked(struct store *store, const char *boot_id, int64_t *seq, struct error *err)
{
    sqlite3_stmt *stmt = store->lookups[SQL_ACKED];
    int rc;

    *seq = -1;
    store_sql_bind_text(stmt, 1, boot_id);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *seq = sqlite3_column_int64(stmt, 0);
    } else if (rc != SQLITE_DONE) {
        store_sql_error(err, store->db, "cannot read");
        note_damage(store, err);
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

bool store_idempotency(struct store *store, const char *key, char *run, char *body_hash)
{
    sqlite3_stmt *stmt = store->lookups[SQL_KEY];
    bool is_known;

    store_sql_bind_text(stmt, 1, key);
    sqlite3_bind_int64(stmt, 2, clock_wall_ms() - STORE_IDEMPOTENCY_KEEP_MS);
    is_known = sqlite3_step(stmt) == SQLITE_ROW;
    if (is_known) {
        snprintf(run, ID_RUN_LENGTH + 1, "%s", store_sql_text(stmt, 0));
        snprintf(body_hash, STORE_BODY_HASH_MAX + 1, "%s", store_sql_text(stmt, 1));
    }
    sqlite3_reset(stmt);
    return is_known;
}
