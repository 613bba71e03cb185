/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - runs child processes, reads their pipes and reports their exit */
#include "agent/case/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"

#define DRAIN_MS 1000

struct process {
    struct tree_child child;
    struct process_tree *tree;
    struct process_handlers handlers;
    bool is_signal, has_ended, is_paused, is_destroyed;
    int number;     /* exit status or signal, once the process has ended */
    int open_pipes; /* pipes whose end was not read yet */
    int handles;    /* handles that are not closed yet */
    uv_pipe_t pipes[PROCESS_STREAMS];
    uv_timer_t drain;
};

struct pipe_ends {
    int here[PROCESS_STREAMS], child[PROCESS_STREAMS];
};

static void close_ends(struct pipe_ends *ends)
{
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        if (ends->here[i] >= 0)
            close(ends->here[i]);
        if (ends->child[i] >= 0)
            close(ends->child[i]);
    }
}

static int open_ends(struct pipe_ends *ends)
{
    memset(ends, 0xff, sizeof(*ends));
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC))
            return -1;
        ends->here[i] = fds[0];
        ends->child[i] = fds[1];
    }
    return 0;
}

static void free_when_closed(struct process *process)
{
    if (process->is_destroyed && process->handles == 0)
        free(process);
}

static void on_closed(uv_handle_t *handle)
{
    struct process *process = handle->data;

    assert(process->handles > 0);
    process->handles--;
    free_when_closed(process);
}

static void close_handle(struct process *process, uv_handle_t *handle)
{
    (void)process;
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

static void end(struct process *process)
{
    assert(process->has_ended && process->open_pipes == 0);
    uv_timer_stop(&process->drain);
    process->handlers.on_end(process->handlers.arg, process->is_signal, process->number);
}

static void close_pipe(struct process *process, uv_handle_t *handle)
{
    if (uv_is_closing(handle))
        return;
    assert(process->open_pipes > 0);
    process->open_pipes--;
    close_handle(process, handle);
}

/* A delayed loop runs timers before it reads pipes, so output of the process may still be
 * in its pipe. Read at most the pipe's capacity. */
static void read_rest(struct process *process, enum process_stream which)
{
    uv_buf_t chunk = process_tree_scratch(process->tree);
    long left;
    int fd;

    if (uv_fileno((uv_handle_t *)&process->pipes[which], &fd))
        return;
    left = fcntl(fd, F_GETPIPE_SZ);
    while (left > 0 && !process->is_paused) {
        ssize_t n = read(fd, chunk.base, chunk.len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        process->handlers.on_data(process->handlers.arg, which, chunk.base, (size_t)n);
        left -= n;
    }
}

static void on_drain_timeout(uv_timer_t *timer)
{
    struct process *process = timer->data;

    for (int i = 0; i < PROCESS_STREAMS; i++)
        read_rest(process, (enum process_stream)i);
    /* While reading is paused, the pipes cannot reach their end. */
    if (process->is_paused) {
        uv_timer_start(timer, on_drain_timeout, DRAIN_MS, 0);
        return;
    }
    for (int i = 0; i < PROCESS_STREAMS; i++)
        close_pipe(process, (uv_handle_t *)&process->pipes[i]);
    end(process);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const struct process *process = handle->data;

    (void)suggested;
    *buf = process_tree_scratch(process->tree);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct process *process = stream->data;
    enum process_stream which =
        (enum process_stream)((uv_pipe_t *)stream - process->pipes);

    if (n > 0)
        process->handlers.on_data(process->handlers.arg, which, buf->base, (size_t)n);
    if (n >= 0)
        return;
    close_pipe(process, (uv_handle_t *)stream);
    if (process->open_pipes == 0 && process->has_ended)
        end(process);
}

static void start_reading(struct process *process, struct pipe_ends *ends)
{
    uv_loop_t *loop = process_tree_loop(process->tree);

    uv_timer_init(loop, &process->drain);
    process->drain.data = process;
    process->handles = 1 + PROCESS_STREAMS;
    process->open_pipes = PROCESS_STREAMS;
    for (int i = 0; i < PROCESS_STREAMS; i++) {
        uv_pipe_t *pipe = &process->pipes[i];

        uv_pipe_init(loop, pipe, 0);
        pipe->data = process;
        /* Neither call can fail on a fresh pipe with a free handle. */
        uv_pipe_open(pipe, ends->here[i]);
        uv_read_start((uv_stream_t *)pipe, on_alloc, on_read);
        ends->here[i] = -1;
    }
}

static void on_child_exit(struct tree_child *child, bool is_signal, int number)
{
    struct process *process = (struct process *)child;

    assert(!process->has_ended);
    process->has_ended = true;
    process->is_signal = is_signal;
    process->number = number;
    if (process->open_pipes == 0)
        end(process);
    else
        uv_timer_start(&process->drain, on_drain_timeout, DRAIN_MS, 0);
}

struct process *process_spawn(struct process_tree *tree,
                              const struct process_params *params,
                              const struct process_handlers *handlers, struct error *err)
{
    struct process *process = memory_zeroed(1, sizeof(*process), "a process");
    struct pipe_ends ends;

    process->tree = tree;
    process->handlers = *handlers;
    process->child.on_exit = on_child_exit;
    if (open_ends(&ends)) {
        error_set_errno(err, ERROR_IO, errno, "cannot create pipes");
        goto fail;
    }
    if (process_tree_spawn(tree, params, ends.child, &process->child, err))
        goto fail;
    start_reading(process, &ends);
    close_ends(&ends);
    return process;
fail:
    close_ends(&ends);
    free(process);
    return NULL;
}

pid_t process_pid(const struct process *process)
{
    return process->child.pid;
}

const struct process_usage *process_usage(const struct process *process)
{
    return &process->child.usage;
}

void process_signal(struct process *process, int signum)
{
    if (!process->has_ended)
        kill(-process->child.pid, signum);
}

void process_signal_leader(struct process *process, int signum)
{
    if (!process->has_ended)
        kill(process->child.pid, signum);
}

void process_pause(struct process *process)
{
    process->is_paused = true;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        if (!uv_is_closing((uv_handle_t *)&process->pipes[i]))
            uv_read_stop((uv_stream_t *)&process->pipes[i]);
}

void process_resume(struct process *process)
{
    process->is_paused = false;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        if (!uv_is_closing((uv_handle_t *)&process->pipes[i]))
            uv_read_start((uv_stream_t *)&process->pipes[i], on_alloc, on_read);
}

void process_destroy(struct process *process)
{
    if (!process)
        return;
    process_signal(process, SIGKILL);
    process_tree_forget(process->tree, &process->child);
    process->is_destroyed = true;
    for (int i = 0; i < PROCESS_STREAMS; i++)
        close_handle(process, (uv_handle_t *)&process->pipes[i]);
    close_handle(process, (uv_handle_t *)&process->drain);
    free_when_closed(process);
}
