/* spool.c - unacknowledged event lines in a file
 *
 * The file holds lines from offset `head` to `tail`; lines that did not fit on the disk
 * follow in `waiting`. Once more than half of a big file is acknowledged, the rest is
 * moved to its beginning, which costs less than writing it did. */
#include "agent/link/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS_NAME "events.ndjson"
#define LOCK_NAME "lock"
#define COMPACT_MIN ((off_t)4 * 1024 * 1024)
#define WAITING_MAX ((size_t)256 * 1024 * 1024)
#define LINE_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct spool {
    char *dir; /* NULL: all lines wait in memory, and that is where they belong */
    int dir_fd, lock_fd, fd;
    bool is_dir_ours;
    bool is_resumed; /* an earlier agent's, which had it acknowledged we don't know how
                        far */
    off_t head, tail;
    uint64_t first;     /* number of the line at head */
    uint64_t file_end;  /* number of the first line that is not in the file */
    uint64_t next;      /* number of the next line to come */
    uint64_t read_last; /* the last line of the latest spool_read from the file, ... */
    off_t read_end;     /* ... and where it ends; 0: unknown */
    struct buf waiting;
};

static int make_dir(struct spool *spool, const char *dir, struct error *err)
{
    char path[PATH_MAX];
    struct stat st;

    if (mkdir(dir, 0700) == 0)
        spool->is_dir_ours = true;
    else if (errno != EEXIST)
        return error_set_errno(err, ERROR_IO, errno, "can't make spool directory %s",
                               dir);
    spool->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (spool->dir_fd < 0 || fstat(spool->dir_fd, &st))
        return error_set_errno(err, ERROR_IO, errno, "can't open spool directory %s",
                               dir);
    if (st.st_uid != geteuid())
        return error_set(err, ERROR_INVALID,
                         "spool directory %s belongs to user %u, not to this agent's",
                         dir, (unsigned)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, ERROR_INVALID,
                         "spool directory %s can be written by others: chmod 700 it",
                         dir);
    if (!realpath(dir, path))
        return error_set_errno(err, ERROR_IO, errno, "spool directory %s", dir);
    spool->dir = strdup(path);
    return spool->dir ? 0 : error_set(err, ERROR_MEMORY, "out of memory");
}

/* Open the lock file and lock it. 1: another agent that was just leaving has removed the
 * file meanwhile, so that the lock is worth nothing. */
static int try_lock(struct spool *spool, struct error *err)
{
    struct stat ours, named;

    spool->lock_fd =
        openat(spool->dir_fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->lock_fd < 0)
        return error_set_errno(err, ERROR_IO, errno, "can't open %s/%s", spool->dir,
                               LOCK_NAME);
    if (flock(spool->lock_fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK)
            return error_set_errno(err, ERROR_IO, errno, "can't lock %s/%s", spool->dir,
                                   LOCK_NAME);
        return error_set(err, ERROR_CONFLICT,
                         "another agent on this host uses the spool directory %s",
                         spool->dir);
    }
    if (fstat(spool->lock_fd, &ours) == 0 &&
        fstatat(spool->dir_fd, LOCK_NAME, &named, 0) == 0 && ours.st_ino == named.st_ino)
        return 0;
    close(spool->lock_fd);
    spool->lock_fd = -1;
    return 1;
}

static int lock_dir(struct spool *spool, struct error *err)
{
    int result = 1;

    for (int tries = 0; result == 1 && tries < 10; tries++)
        result = try_lock(spool, err);
    if (result == 1)
        return error_set(err, ERROR_CONFLICT, "spool directory %s is not at rest",
                         spool->dir);
    return result;
}

/* ---- what an agent that was killed left ---- */

/* A stretch of lines whose numbers follow each other. */
struct stretch {
    uint64_t first, last;
    off_t begin, end;
};

static uint64_t number_of(const char *line)
{
    static const char start[] = "{\"seq\":";

    return strncmp(line, start, sizeof(start) - 1) == 0
               ? strtoull(line + sizeof(start) - 1, NULL, 10)
               : 0;
}

/* The stretch that goes furthest, *best: while the rest was being moved to the file's
 * beginning some lines may stand there twice, and the last one may be half a line. */
static void find_stretch(FILE *file, struct stretch *best)
{
    struct stretch s = {0};
    char *line = NULL;
    size_t size = 0;
    ssize_t n;

    for (n = getline(&line, &size, file); n > 0; n = getline(&line, &size, file)) {
        uint64_t number = line[n - 1] == '\n' ? number_of(line) : 0;

        if (s.last == 0 || number != s.last + 1) {
            s.first = number;
            s.begin = s.end;
        }
        s.last = number;
        s.end += n;
        if (number == 0)
            s.begin = s.end;
        else if (s.last >= best->last)
            *best = s;
    }
    free(line);
}

static FILE *open_for_reading(const struct spool *spool, struct error *err)
{
    int fd = dup(spool->fd);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (file)
        return file;
    error_set_errno(err, ERROR_IO, errno, "can't read %s/%s", spool->dir, EVENTS_NAME);
    if (fd >= 0)
        close(fd);
    return NULL;
}

void spool_each(const struct spool *spool, void (*fn)(void *arg, const char *line),
                void *arg)
{
    FILE *file = open_for_reading(spool, NULL);
    off_t at = spool->head;
    char *line = NULL;
    size_t size = 0;
    ssize_t n;

    if (!file)
        return;
    for (n = fseeko(file, at, SEEK_SET) ? -1 : 1; n > 0 && at < spool->tail; at += n) {
        n = getline(&line, &size, file);
        if (n > 0)
            fn(arg, line);
    }
    free(line);
    fclose(file);
}

static int resume(struct spool *spool, struct error *err)
{
    struct stretch left = {.first = 1, .last = 0};
    FILE *file = open_for_reading(spool, err);

    if (!file)
        return -1;
    find_stretch(file, &left);
    fclose(file);
    spool->first = left.first;
    spool->file_end = spool->next = left.last + 1;
    spool->head = left.begin;
    spool->tail = left.end;
    spool->is_resumed = true;
    return 0;
}

static int open_events(struct spool *spool, struct error *err)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

    spool->fd = openat(spool->dir_fd, EVENTS_NAME, flags);
    if (spool->fd >= 0)
        return resume(spool, err);
    if (errno == ENOENT)
        spool->fd = openat(spool->dir_fd, EVENTS_NAME, flags | O_CREAT | O_EXCL, 0600);
    if (spool->fd >= 0)
        return 0;
    return error_set_errno(err, ERROR_IO, errno, "can't make %s/%s", spool->dir,
                           EVENTS_NAME);
}

static void release(struct spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    if (spool->lock_fd >= 0)
        close(spool->lock_fd);
    if (spool->dir_fd >= 0)
        close(spool->dir_fd);
    buf_release(&spool->waiting);
    free(spool->dir);
    free(spool);
}

struct spool *spool_create(struct error *err)
{
    struct spool *spool = calloc(1, sizeof(*spool));

    if (!spool) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    spool->dir_fd = spool->lock_fd = spool->fd = -1;
    spool->first = spool->file_end = spool->next = 1;
    buf_init(&spool->waiting, WAITING_MAX);
    return spool;
}

struct spool *spool_open(const char *dir, struct error *err)
{
    struct spool *spool = spool_create(err);

    if (!spool)
        return NULL;
    if (make_dir(spool, dir, err) || lock_dir(spool, err))
        goto fail;
    if (open_events(spool, err) == 0)
        return spool;
fail:
    release(spool);
    return NULL;
}

void spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->dir && spool_count(spool) == 0)
        unlinkat(spool->dir_fd, EVENTS_NAME, 0);
    if (spool->dir)
        unlinkat(spool->dir_fd, LOCK_NAME, 0);
    if (spool->dir && spool->is_dir_ours)
        rmdir(spool->dir);
    release(spool);
}

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
    return spool->dir && spool->waiting.len > 0;
}

/* How lines are numbered and where they lie; every change relies on it. */
static void assert_order(const struct spool *spool)
{
    assert(spool->first >= 1 && spool->first <= spool->next);
    assert(spool->file_end <= spool->next);
    assert(spool->head <= spool->tail);
    assert((spool->waiting.len > 0) == (spool->file_end < spool->next));
}

/* All or nothing: what a failed write left behind the tail is overwritten later. */
static int write_tail(struct spool *spool, const char *data, size_t len,
                      struct error *err)
{
    off_t at = spool->tail;

    while (len > 0) {
        ssize_t n = pwrite(spool->fd, data, len, at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set_errno(err, ERROR_IO, n < 0 ? errno : ENOSPC,
                                   "can't write %s/%s", spool->dir, EVENTS_NAME);
        data += n;
        at += n;
        len -= (size_t)n;
    }
    spool->tail = at;
    return 0;
}

int spool_append(struct spool *spool, const char *line, size_t len, struct error *err)
{
    struct buf *waiting = &spool->waiting;
    size_t before = waiting->len;
    struct error why;
    size_t done = 0;

    if (buf_append(waiting, line, len) || buf_append(waiting, "\n", 1)) {
        waiting->len = before;
        return error_set(err, ERROR_MEMORY, "no memory for another event");
    }
    spool->next++;
    if (spool->dir && before == 0 &&
        write_tail(spool, waiting->data, waiting->len, &why) == 0) {
        spool->file_end = spool->next;
        done = waiting->len;
    }
    if (done && waiting->capacity > 65536)
        buf_release(waiting);
    else if (done)
        buf_clear(waiting);
    assert_order(spool);
    return 0;
}

int spool_retry(struct spool *spool, struct error *err)
{
    struct buf *waiting = &spool->waiting;

    while (waiting->len > 0) {
        const char *end = memchr(waiting->data, '\n', waiting->len);
        size_t len = (size_t)(end - waiting->data) + 1;

        if (write_tail(spool, waiting->data, len, err))
            return -1;
        spool->file_end++;
        buf_consume(waiting, len);
    }
    buf_release(waiting);
    assert_order(spool);
    return 0;
}

/* Read len bytes at an offset, appended to out. */
static int read_at(const struct spool *spool, off_t at, size_t len, struct buf *out,
                   struct error *err)
{
    char chunk[65536];

    while (len > 0) {
        ssize_t n =
            pread(spool->fd, chunk, len < sizeof(chunk) ? len : sizeof(chunk), at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set_errno(err, ERROR_IO, n < 0 ? errno : EIO, "can't read %s/%s",
                                   spool->dir, EVENTS_NAME);
        if (buf_append(out, chunk, (size_t)n))
            return error_set(err, ERROR_MEMORY, "no memory for a batch of events");
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Whole lines among the first max_lines of data: how many, and their length in *len. */
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

static int64_t read_file_lines(struct spool *spool, size_t max_bytes, int64_t max_lines,
                               struct buf *out, struct error *err)
{
    size_t stored = (size_t)(spool->tail - spool->head);
    size_t want = max_bytes;
    int64_t n = 0;
    size_t len = 0;

    /* A first line longer than max_bytes makes a batch of its own. */
    while (n == 0) {
        if (want > stored)
            want = stored;
        if (read_at(spool, spool->head + (off_t)out->len, want - out->len, out, err))
            return -1;
        n = count_lines(out->data, out->len, max_lines, &len);
        if (n == 0 && want == stored)
            return error_set(err, ERROR_INTERNAL, "%s/%s holds half a line", spool->dir,
                             EVENTS_NAME);
        want *= 2;
        if (n == 0)
            max_lines = 1;
    }
    out->len = len;
    out->data[len] = '\0';
    spool->read_last = spool->first + (uint64_t)n - 1;
    spool->read_end = spool->head + (off_t)len;
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
        return error_set(err, ERROR_MEMORY, "no memory for a batch of events");
    return n;
}

int64_t spool_read(struct spool *spool, size_t max_bytes, int64_t max_lines,
                   struct buf *out, uint64_t *last, struct error *err)
{
    int64_t n;

    buf_clear(out);
    if (spool->first == spool->next)
        return 0;
    if (spool->head < spool->tail)
        n = read_file_lines(spool, max_bytes, max_lines, out, err);
    else
        n = read_waiting_lines(spool, max_bytes, max_lines, out, err);
    if (n > 0)
        *last = spool->first + (uint64_t)n - 1;
    return n;
}

/* Where the line after number `seq` begins; both are in the file. */
static int find_end(struct spool *spool, uint64_t seq, off_t *end, struct error *err)
{
    struct buf chunk;
    off_t at = spool->head;
    uint64_t left = seq - spool->first + 1;
    int result = 0;

    buf_init(&chunk, LINE_BYTES_MAX);
    while (left > 0 && result == 0) {
        size_t stored = (size_t)(spool->tail - at);
        size_t len;
        int64_t n;

        buf_clear(&chunk);
        result = read_at(spool, at, stored < chunk.max ? stored : chunk.max, &chunk, err);
        if (result)
            break;
        n = count_lines(chunk.data ? chunk.data : "", chunk.len, (int64_t)left, &len);
        if (n == 0)
            result = error_set(err, ERROR_INTERNAL, "%s/%s holds half a line", spool->dir,
                               EVENTS_NAME);
        left -= (uint64_t)n;
        at += (off_t)len;
    }
    *end = at;
    buf_release(&chunk);
    return result;
}

/* Move what is left to the file's beginning. The two ranges do not overlap. */
static void compact(struct spool *spool)
{
    char chunk[65536];
    off_t from = spool->head, to = 0;

    while (from < spool->tail) {
        off_t left = spool->tail - from;
        size_t want = left < (off_t)sizeof(chunk) ? (size_t)left : sizeof(chunk);
        ssize_t n = pread(spool->fd, chunk, want, from);

        if (n <= 0 || pwrite(spool->fd, chunk, (size_t)n, to) != n)
            return; /* nothing has been lost: the lines still stand where they were */
        from += n;
        to += n;
    }
    spool->head = 0;
    spool->tail = to;
    if (ftruncate(spool->fd, to)) {
        /* The bytes behind the tail stay; the next lines overwrite them. */
    }
}

static void advance(struct spool *spool, uint64_t seq, off_t end)
{
    spool->head = end;
    spool->first = seq + 1;
    spool->read_last = 0;
    if (spool->head == spool->tail ||
        (spool->head >= COMPACT_MIN && spool->head >= spool->tail - spool->head))
        compact(spool);
}

static void forget_waiting(struct spool *spool, uint64_t seq)
{
    size_t len;

    spool->file_end = seq + 1;
    count_lines(spool->waiting.data, spool->waiting.len,
                (int64_t)(seq - spool->first + 1), &len);
    buf_consume(&spool->waiting, len);
    if (spool->waiting.len == 0)
        buf_release(&spool->waiting);
    spool->first = seq + 1;
}

int spool_ack(struct spool *spool, uint64_t seq, struct error *err)
{
    uint64_t in_file = seq < spool->file_end ? seq : spool->file_end - 1;
    off_t end;

    if (spool->is_resumed && spool_count(spool) == 0)
        spool->first = spool->file_end = spool->next = seq + 1;
    spool->is_resumed = false;
    if (seq + 1 < spool->first || seq >= spool->next)
        return error_set(err, ERROR_INVALID,
                         "the server has events up to %llu, this agent those from %llu "
                         "to %llu",
                         (unsigned long long)seq, (unsigned long long)spool->first,
                         (unsigned long long)spool->next - 1);
    if (in_file >= spool->first) {
        if (in_file == spool->read_last)
            end = spool->read_end;
        else if (find_end(spool, in_file, &end, err))
            return -1;
        advance(spool, in_file, end);
    }
    if (seq >= spool->first)
        forget_waiting(spool, seq);
    return 0;
}

void spool_reset(struct spool *spool)
{
    buf_release(&spool->waiting);
    spool->head = spool->tail;
    if (spool->dir)
        compact(spool);
    spool->first = spool->file_end = spool->next = 1;
    spool->read_last = 0;
    spool->is_resumed = false;
}
