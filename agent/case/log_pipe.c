/* SPDX-License-Identifier: Apache-2.0 */
/* log_pipe.c - a named pipe for the NCCL log of a rank's processes */
#include "agent/case/log_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"

#define LINE_MAX_BYTES ((size_t)4096)
#define CHUNK_BYTES 65536

struct log_pipe {
    uv_pipe_t pipe;
    uv_timer_t quiet;
    int handles; /* handles that are not yet closed */
    char *path;  /* NULL once the pipe's path is removed */
    struct lines lines;
    struct log_pipe_handlers handlers;
    char chunk[CHUNK_BYTES];
};

static void remove_path(struct log_pipe *log)
{
    if (log->path)
        unlink(log->path);
    free(log->path);
    log->path = NULL;
}

static void release(struct log_pipe *log)
{
    lines_release(&log->lines);
    remove_path(log);
    free(log);
}

static void on_closed(uv_handle_t *handle)
{
    struct log_pipe *log = handle->data;

    if (--log->handles == 0)
        release(log);
}

static void on_quiet(uv_timer_t *timer)
{
    struct log_pipe *log = timer->data;

    log->handlers.on_quiet(log->handlers.arg);
}

static void read_chunk(struct log_pipe *log, size_t n)
{
    lines_feed(&log->lines, log->chunk, n, log->handlers.on_line, log->handlers.arg);
    uv_timer_start(&log->quiet, on_quiet, log->handlers.quiet_ms, 0);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct log_pipe *log = handle->data;

    (void)suggested;
    *buf = uv_buf_init(log->chunk, sizeof(log->chunk));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    if (n > 0)
        read_chunk(stream->data, (size_t)n);
    else if (n < 0)
        uv_read_stop(stream);
}

/* Open the pipe for writing, too. The pipe then reports no end of file while processes
 * come and go, and no process blocks in open(). */
static int open_path(const char *path, struct error *err)
{
    int fd;

    unlink(path);
    if (mkfifo(path, 0600))
        return error_set_errno(err, ERROR_IO, errno, "cannot create the pipe %.300s",
                               path);
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        error_set_errno(err, ERROR_IO, errno, "cannot open the pipe %.300s", path);
        unlink(path);
    }
    return fd;
}

struct log_pipe *log_pipe_open(uv_loop_t *loop, const char *path,
                               const struct log_pipe_handlers *handlers,
                               struct error *err)
{
    struct log_pipe *log = memory_zeroed(1, sizeof(*log), "a pipe");
    int fd;

    log->path = memory_text(path, "a path");
    lines_init(&log->lines, LINE_MAX_BYTES, LINES_CUT);
    log->handlers = *handlers;
    fd = open_path(path, err);
    if (fd < 0) {
        release(log);
        return NULL;
    }
    uv_pipe_init(loop, &log->pipe, 0);
    uv_timer_init(loop, &log->quiet);
    log->handles = 2;
    log->pipe.data = log->quiet.data = log;
    /* Neither call can fail on a fresh pipe with a free handle. */
    uv_pipe_open(&log->pipe, fd);
    uv_read_start((uv_stream_t *)&log->pipe, on_alloc, on_read);
    return log;
}

void log_pipe_end(struct log_pipe *log)
{
    long left;
    int fd;

    remove_path(log);
    if (uv_fileno((uv_handle_t *)&log->pipe, &fd))
        return;
    uv_read_stop((uv_stream_t *)&log->pipe);
    /* Read at most the pipe's capacity, because a remaining process may keep writing. */
    left = fcntl(fd, F_GETPIPE_SZ);
    while (left > 0) {
        ssize_t n = read(fd, log->chunk, sizeof(log->chunk));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        read_chunk(log, (size_t)n);
        left -= n;
    }
    lines_end(&log->lines, log->handlers.on_line, log->handlers.arg);
    uv_timer_stop(&log->quiet);
}

void log_pipe_destroy(struct log_pipe *log)
{
    if (!log)
        return;
    remove_path(log);
    uv_close((uv_handle_t *)&log->pipe, on_closed);
    uv_close((uv_handle_t *)&log->quiet, on_closed);
}
