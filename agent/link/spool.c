/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - stores unacknowledged event lines in memory and on disk
 *
 * Lines `first` to `stored` - 1 are rows of a database. Lines `stored` to `next` - 1 wait
 * in memory until spool_flush moves them into the database in one transaction. A line
 * that is acknowledged before the flush never touches the disk. */
#include "agent/link/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/memory.h"

#define NAME "events.db"
#define WAITING_MAX ((size_t)256 * 1024 * 1024)
/* BEGIN EXCLUSIVE locks the file, and the locking mode keeps the lock, which also
 * protects the directory. Nothing is synced, because the file needs to survive the
 * agent's death but not a power failure. */
#define SETUP                                                                            \
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; "                  \
    "PRAGMA synchronous = OFF; BEGIN EXCLUSIVE; "                                        \
    "CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, line TEXT NOT NULL); "   \
    "COMMIT"

struct spool {
    char *dir; /* NULL: the spool is in memory only */
    int dir_fd;
    bool is_dir_ours; /* spool_open made the directory */
    /* The file is from an earlier agent, and the server has not yet reported which of
     * these events it has stored. */
    bool is_resumed;
    bool is_blocked; /* the latest flush failed */
    sqlite3 *db;
    uint64_t first;  /* the oldest unacknowledged line */
    uint64_t stored; /* the first line that is not in the database */
    uint64_t next;   /* the number of the next line */
    bool has_old;    /* the database also contains rows outside `first` to `stored` - 1 */
    struct buf waiting;
};

/* ---- opening and closing ---- */

const char *spool_shared_system(long type)
{
    static const struct {
        long type;
        const char *name;
    } shared[] = {{0x6969, "NFS"},         {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
                  {0x19830326, "BeeGFS"},  {0x00c36400, "Ceph"},   {0x517b, "SMB"},
                  {0xff534d42, "SMB"},     {0xfe534d42, "SMB"},    {0x5346414f, "AFS"},
                  {0x20030528, "OrangeFS"}};

    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (shared[i].type == type)
            return shared[i].name;
    return NULL;
}

static int make_dir(struct spool *spool, const char *dir, struct error *err)
{
    char path[PATH_MAX];
    const char *shared;
    struct statfs fs;
    struct stat st;

    if (mkdir(dir, 0700) == 0)
        spool->is_dir_ours = true;
    else if (errno != EEXIST)
        return error_set_errno(err, ERROR_IO, errno,
                               "cannot create the spool directory %s", dir);
    spool->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (spool->dir_fd < 0 || fstat(spool->dir_fd, &st))
        return error_set_errno(err, ERROR_IO, errno, "cannot open the spool directory %s",
                               dir);
    if (st.st_uid != geteuid())
        return error_set(err, ERROR_INVALID,
                         "the spool directory %s belongs to user %u, but the agent runs "
                         "as user %u",
                         dir, (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(
            err, ERROR_INVALID,
            "other users can write to the spool directory %s (fix: chmod 700)", dir);
    shared = fstatfs(spool->dir_fd, &fs) ? NULL : spool_shared_system(fs.f_type);
    if (shared)
        return error_set(
            err, ERROR_INVALID,
            "the spool directory %s is on %s, a shared file system: choose a local "
            "directory with --spool-dir",
            dir, shared);
    if (!realpath(dir, path))
        return error_set_errno(err, ERROR_IO, errno,
                               "cannot resolve the spool directory %s", dir);
    spool->dir = memory_text(path, "a path");
    return 0;
}

static int fail(const struct spool *spool, const char *doing, struct error *err)
{
    return error_set(err, ERROR_IO, "cannot %s %s/" NAME ": %s", doing, spool->dir,
                     sqlite3_errmsg(spool->db));
}

static sqlite3_stmt *prepare(const struct spool *spool, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(spool->db, sql, -1, &statement, NULL);
    return statement;
}

static int resume(struct spool *spool, struct error *err)
{
    sqlite3_stmt *range = prepare(spool, "SELECT min(seq), max(seq) FROM event");
    int status = range ? sqlite3_step(range) : SQLITE_ERROR;

    if (status == SQLITE_ROW && sqlite3_column_type(range, 0) != SQLITE_NULL) {
        spool->first = (uint64_t)sqlite3_column_int64(range, 0);
        spool->stored = spool->next = (uint64_t)sqlite3_column_int64(range, 1) + 1;
    }
    sqlite3_finalize(range);
    return status == SQLITE_ROW ? 0 : fail(spool, "read", err);
}

static int check_pages(const struct spool *spool)
{
    sqlite3_stmt *check = prepare(spool, "PRAGMA quick_check(1)");
    int status = check ? sqlite3_step(check) : sqlite3_errcode(spool->db);

    if (status == SQLITE_ROW)
        status = strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0
                     ? SQLITE_OK
                     : SQLITE_CORRUPT;
    sqlite3_finalize(check);
    return status;
}

static int open_database(struct spool *spool, const char *path)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_NOFOLLOW;
    int status = sqlite3_open_v2(path, &spool->db, flags, NULL);

    if (status == SQLITE_OK)
        status = sqlite3_exec(spool->db, SETUP, NULL, NULL, NULL);
    return status == SQLITE_OK ? check_pages(spool) : status;
}

static void remove_files(const struct spool *spool)
{
    unlinkat(spool->dir_fd, NAME, 0);
    unlinkat(spool->dir_fd, NAME "-journal", 0);
}

static int open_events(struct spool *spool, struct error *err)
{
    char path[PATH_MAX + 16];
    struct stat st;
    int status;

    snprintf(path, sizeof(path), "%s/" NAME, spool->dir);
    spool->is_resumed = stat(path, &st) == 0 && st.st_size > 0;
    status = open_database(spool, path);
    /* A power failure may damage the file, which must not prevent the agent's start. */
    if (status == SQLITE_NOTADB || status == SQLITE_CORRUPT) {
        log_error("%s is damaged (a power failure can cause this): its events are lost",
                  path);
        sqlite3_close(spool->db);
        remove_files(spool);
        status = open_database(spool, path);
    }
    if (status == SQLITE_BUSY)
        return error_set(err, ERROR_CONFLICT,
                         "another agent on this host uses the spool directory %s",
                         spool->dir);
    if (status != SQLITE_OK)
        return fail(spool, "open", err);
    /* An agent that was leaving may have removed the file between open and lock. */
    if (stat(path, &st))
        return error_set(
            err, ERROR_CONFLICT,
            "another agent is just removing its spool in %s: start this agent again",
            spool->dir);
    return resume(spool, err);
}

static void release(struct spool *spool)
{
    sqlite3_close(spool->db);
    if (spool->dir_fd >= 0)
        close(spool->dir_fd);
    buf_release(&spool->waiting);
    free(spool->dir);
    free(spool);
}

struct spool *spool_create(void)
{
    struct spool *spool = memory_zeroed(1, sizeof(*spool), "a spool");

    spool->dir_fd = -1;
    spool->first = spool->stored = spool->next = 1;
    buf_init(&spool->waiting, WAITING_MAX);
    return spool;
}

struct spool *spool_open(const char *dir, struct error *err)
{
    struct spool *spool = spool_create();

    if (make_dir(spool, dir, err) == 0 && open_events(spool, err) == 0)
        return spool;
    release(spool);
    return NULL;
}

void spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->dir && spool_flush(spool, NULL) == 0 && spool_count(spool) == 0) {
        /* Remove the file while it is locked. The journal mode MEMORY closes the journal.
         */
        sqlite3_exec(spool->db, "PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
        remove_files(spool);
    }
    if (spool->dir && spool->is_dir_ours)
        rmdir(spool->dir);
    release(spool);
}

/* ---- state ---- */

const char *spool_dir(const struct spool *spool)
{
    return spool->dir;
}

uint64_t spool_next(const struct spool *spool)
{
    return spool->next;
}

uint64_t spool_acked(const struct spool *spool)
{
    return spool->first - 1;
}

uint64_t spool_count(const struct spool *spool)
{
    return spool->next - spool->first;
}

bool spool_is_blocked(const struct spool *spool)
{
    return spool->is_blocked;
}

bool spool_needs_flush(const struct spool *spool)
{
    return spool->dir && (spool->waiting.len > 0 || spool->has_old);
}

int spool_append(struct spool *spool, const char *line, size_t len, struct error *err)
{
    struct buf *waiting = &spool->waiting;
    size_t before = waiting->len;

    if (buf_append(waiting, line, len) || buf_append(waiting, "\n", 1)) {
        waiting->len = before;
        return error_set(err, ERROR_MEMORY, "%zu MiB of events already wait in memory",
                         WAITING_MAX >> 20);
    }
    spool->next++;
    return 0;
}

/* Count the complete lines in data, up to max_lines, and store their length in *len. */
static int64_t count_lines(const char *data, size_t size, int64_t max_lines, size_t *len)
{
    int64_t n = 0;
    size_t at = 0;

    while (n < max_lines && at < size) {
        const char *end = memchr(data + at, '\n', size - at);

        if (!end)
            break;
        at = (size_t)(end - data) + 1;
        n++;
    }
    *len = at;
    return n;
}

static void drop_waiting(struct spool *spool, uint64_t n)
{
    size_t len;

    count_lines(spool->waiting.data, spool->waiting.len, (int64_t)n, &len);
    buf_consume(&spool->waiting, len);
    if (spool->waiting.len == 0)
        buf_release(&spool->waiting);
    spool->stored += n;
}

/* ---- to disk ---- */

static int insert_waiting(const struct spool *spool)
{
    sqlite3_stmt *insert = prepare(spool, "INSERT INTO event VALUES (?, ?)");
    const char *at = spool->waiting.data;
    int status = insert ? SQLITE_DONE : SQLITE_ERROR;

    for (uint64_t seq = spool->stored; seq < spool->next && status == SQLITE_DONE;
         seq++) {
        const char *end = strchr(at, '\n');

        sqlite3_bind_int64(insert, 1, (sqlite3_int64)seq);
        sqlite3_bind_text(insert, 2, at, (int)(end - at), SQLITE_STATIC);
        status = sqlite3_step(insert);
        sqlite3_reset(insert);
        at = end + 1;
    }
    sqlite3_finalize(insert);
    return status == SQLITE_DONE ? 0 : -1;
}

/* Delete lines that are acknowledged or precede a reset. */
static int delete_old(const struct spool *spool)
{
    sqlite3_stmt *statement =
        prepare(spool, "DELETE FROM event WHERE seq < ? OR seq >= ?");
    int status = SQLITE_ERROR;

    if (statement) {
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)spool->first);
        sqlite3_bind_int64(statement, 2, (sqlite3_int64)spool->stored);
        status = sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? 0 : -1;
}

int spool_flush(struct spool *spool, struct error *err)
{
    if (!spool_needs_flush(spool))
        return 0;
    if (sqlite3_exec(spool->db, "BEGIN", NULL, NULL, NULL) || delete_old(spool) ||
        insert_waiting(spool) || sqlite3_exec(spool->db, "COMMIT", NULL, NULL, NULL)) {
        fail(spool, "write", err);
        sqlite3_exec(spool->db, "ROLLBACK", NULL, NULL, NULL);
        spool->is_blocked = spool->waiting.len > 0;
        return spool->is_blocked ? -1 : 0;
    }
    spool->has_old = spool->is_blocked = false;
    drop_waiting(spool, spool->next - spool->stored);
    return 0;
}

/* ---- reading and forgetting ---- */

static int64_t read_stored(const struct spool *spool, size_t max_bytes, int64_t max_lines,
                           struct buf *out, struct error *err)
{
    sqlite3_stmt *select =
        prepare(spool, "SELECT line FROM event WHERE seq >= ? ORDER BY seq LIMIT ?");
    int status = SQLITE_ERROR;
    int64_t n = 0;

    if (select) {
        sqlite3_bind_int64(select, 1, (sqlite3_int64)spool->first);
        sqlite3_bind_int64(select, 2, max_lines);
    }
    while (select && (status = sqlite3_step(select)) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(select, 0);
        size_t len = (size_t)sqlite3_column_bytes(select, 0);

        if (n > 0 && out->len + len + 1 > max_bytes)
            break;
        if (!line || buf_append(out, line, len) || buf_append(out, "\n", 1)) {
            status = SQLITE_NOMEM;
            break;
        }
        n++;
    }
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        n = fail(spool, "read", err);
    sqlite3_finalize(select);
    return n;
}

static int64_t read_waiting_lines(struct spool *spool, size_t max_bytes,
                                  int64_t max_lines, struct buf *out, struct error *err)
{
    const struct buf *waiting = &spool->waiting;
    size_t size = waiting->len < max_bytes ? waiting->len : max_bytes;
    size_t len;
    int64_t n = count_lines(waiting->data, size, max_lines, &len);

    if (n == 0)
        n = count_lines(waiting->data, waiting->len, 1, &len);
    if (buf_append(out, waiting->data, len))
        return error_set(err, ERROR_MEMORY, "out of memory for a batch of events");
    return n;
}

int64_t spool_read(struct spool *spool, size_t max_bytes, int64_t max_lines,
                   struct buf *out, uint64_t *last, struct error *err)
{
    int64_t n;

    buf_clear(out);
    if (spool->first == spool->next)
        return 0;
    if (spool->first < spool->stored)
        n = read_stored(spool, max_bytes, max_lines, out, err);
    else
        n = read_waiting_lines(spool, max_bytes, max_lines, out, err);
    if (n > 0)
        *last = spool->first + (uint64_t)n - 1;
    return n;
}

void spool_each(const struct spool *spool, void (*fn)(void *arg, const char *line),
                void *arg)
{
    sqlite3_stmt *select = prepare(spool, "SELECT line FROM event ORDER BY seq");

    while (select && sqlite3_step(select) == SQLITE_ROW)
        fn(arg, (const char *)sqlite3_column_text(select, 0));
    sqlite3_finalize(select);
}

int spool_ack(struct spool *spool, uint64_t seq, struct error *err)
{
    /* The killed agent had sent lines that it had not yet written to disk. */
    if (spool->is_resumed && seq >= spool->next && spool->waiting.len == 0)
        spool->stored = spool->next = seq + 1;
    spool->is_resumed = false;
    if (seq + 1 < spool->first || seq >= spool->next)
        return error_set(
            err, ERROR_INVALID,
            "the server reports events up to %llu, but this agent holds %llu to %llu",
            (unsigned long long)seq, (unsigned long long)spool->first,
            (unsigned long long)spool->next - 1);
    spool->has_old = spool->has_old || spool->first < spool->stored;
    spool->first = seq + 1;
    if (spool->first > spool->stored)
        drop_waiting(spool, spool->first - spool->stored);
    if (spool->waiting.len == 0)
        spool->is_blocked = false;
    return 0;
}

void spool_reset(struct spool *spool)
{
    buf_release(&spool->waiting);
    spool->first = spool->stored = spool->next = 1;
    spool->is_resumed = spool->is_blocked = false;
    spool->has_old = true;
    spool_flush(spool, NULL); /* if this flush fails, a later flush deletes the rows */
}
