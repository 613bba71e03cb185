/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - ringbench-case: runs one case on a node and contains its processes
 *
 * The agent starts one ringbench-case per case. It is the parent of the case's ranks and
 * the subreaper of daemonized descendants. It exits when all of them have ended. The
 * first line on standard input is the document (launch.h); each later line is a command:
 * "stop", or "stacks" (collect stacks, then stop). End of input means that the agent is
 * gone, so all processes are killed. Events go to standard output (event_stream.h).
 *
 * If this process is killed, its ranks die by their parent-death signal, and the agent,
 * also a subreaper, kills the rest. A process survives only if both are killed at the
 * same moment. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/case/case.h"
#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "common/base/log.h"

/* Large enough for a document with files and 4096 ranks. */
#define INPUT_MAX ((size_t)256 * 1024 * 1024)
#define CHUNK_BYTES 65536

struct program {
    uv_loop_t loop;
    uv_pipe_t input;
    struct buf received; /* an incomplete line */
    struct event_stream out;
    struct process_tree *tree;
    struct running_case *running;
    bool has_begun;
    char chunk[CHUNK_BYTES];
};

/* Use _exit, because a leak checker would stop this process in an exit handler. A SIGCONT
 * would then make the checker wait forever. */
static void on_written(void *arg)
{
    (void)arg;
    _exit(0);
}

static void on_gone(void *arg)
{
    struct program *program = arg;

    program->out.is_broken = true;
    uv_read_stop((uv_stream_t *)&program->input);
    case_abandon(program->running, program->tree);
}

static void on_full(void *arg, bool is_full)
{
    const struct program *program = arg;

    case_pause(program->running, is_full);
}

static void on_line(struct program *program, const char *line, size_t len)
{
    struct error err;
    json_t *document;

    if (program->has_begun) {
        if (strcmp(line, "stop") == 0 || strcmp(line, "stacks") == 0)
            case_stop(program->running, strcmp(line, "stacks") == 0);
        return;
    }
    program->has_begun = true;
    document = json_parse(line, len, &err);
    if (!document) {
        fprintf(stderr, "ringbench-case: standard input: %s\n", err.text);
        _exit(1);
    }
    case_begin(program->running, program->tree, document);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct program *program = handle->data;

    (void)suggested;
    *buf = uv_buf_init(program->chunk, CHUNK_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct program *program = stream->data;
    const char *data = buf->base, *end;

    if (n < 0) {
        on_gone(program);
        return;
    }
    for (const char *to = data + n; data < to; data = end + 1) {
        end = memchr(data, '\n', (size_t)(to - data));
        if (buf_append(&program->received, data, (size_t)((end ? end : to) - data))) {
            fprintf(stderr, "ringbench-case: a line on standard input exceeds %zu MiB\n",
                    INPUT_MAX >> 20);
            _exit(1);
        }
        if (!end)
            return;
        on_line(program, program->received.data ? program->received.data : "",
                program->received.len);
        buf_clear(&program->received);
    }
}

/* Ignore signals, because a batch system may signal every process of a job. Only the
 * agent ends this process, through its standard input. */
static void block_signals(void)
{
    sigset_t set;

    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

static int start(struct program *program)
{
    struct error err;
    char hello[1100];

    block_signals();
    uv_loop_init(&program->loop);
    program->running = case_create(&program->loop, &program->out);
    program->tree =
        process_tree_create(&program->loop, case_on_tree_end, program->running, &err);
    if (!program->tree) {
        fprintf(stderr, "ringbench-case: %s\n", err.text);
        return -1;
    }
    program->out.on_full = on_full;
    program->out.on_broken = on_gone;
    program->out.on_written = on_written;
    program->out.arg = program;
    event_stream_open(&program->out, &program->loop, STDOUT_FILENO);
    snprintf(hello, sizeof(hello), "%d %.1000s", CASE_PROTOCOL,
             process_tree_cgroup(program->tree));
    event_stream_text(&program->out, EVENT_HELLO, hello);
    buf_init(&program->received, INPUT_MAX);
    uv_pipe_init(&program->loop, &program->input, 0);
    program->input.data = program;
    if (uv_pipe_open(&program->input, STDIN_FILENO) ||
        uv_read_start((uv_stream_t *)&program->input, on_alloc, on_read)) {
        fputs("ringbench-case: standard input must be a pipe or a socket\n", stderr);
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct program program;
    const char *level_name = getenv("RINGBENCH_LOG_LEVEL");
    int level = level_name ? log_level_parse(level_name) : -1;
    struct stat st;

    if (argc > 1 || fstat(STDIN_FILENO, &st) ||
        !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
        bool is_help = argc > 1 && strcmp(argv[1], "--help") == 0;

        fputs(
            "usage: ringbench-case\n\nThe parent of a case's processes. ringbench-agent "
            "starts one per case.\n",
            is_help ? stdout : stderr);
        return is_help ? 0 : 2;
    }
    /* Close descriptors inherited from the agent and its parent. */
    process_tree_close_from(CASE_LOCK_FD + 1);
    /* If the agent dies while this process is stopped, SIGCONT resumes this process. It
     * then reads the end of its input. */
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    log_init("ringbench-case", level < 0 ? LOG_INFO : (enum log_level)level);
    if (start(&program))
        return 1;
    uv_run(&program.loop, UV_RUN_DEFAULT);
    return 1;
}
