/* SPDX-License-Identifier: Apache-2.0 */
/* engine_call.c - runs the commands of launchers and hooks as child processes */
#include "server/launch/engine_call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"

#define ANSWER_MAX 4096
/* maximum number of bytes read from a command's output per tick */
#define PIPE_BYTES (1 << 20)
#define DEATH_MS 5000 /* time that a killed command has to exit */

struct output {
    int fd;
    size_t len;
    char text[ANSWER_MAX + 1];
};

struct engine_call {
    TAILQ_ENTRY(engine_call) entry;
    struct launcher *launcher; /* or NULL */
    int64_t limit_ms;          /* time limit */
    pid_t pid;                 /* leader of its own session */
    struct output out, errors;
    /* deadline of the command; once it was killed, deadline of its exit */
    int64_t until_ms;
    engine_answered *done; /* NULL: answered or cancelled */
    void *arg;
    bool is_late;
};

static void call_free(struct engine_calls *calls, struct engine_call *call)
{
    TAILQ_REMOVE(calls, call, entry);
    close(call->out.fd);
    close(call->errors.fd);
    if (call->launcher)
        launcher_unref(call->launcher);
    free(call);
}

/* ---- Starting ---- */

/* Find a program through the PATH of the command's environment, not the server's. */
static void find_program(const char *name, char *const *env, char out[PATH_MAX])
{
    const char *path = "/usr/bin:/bin";
    size_t len;

    snprintf(out, PATH_MAX, "%s", name);
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            path = *env + 5;
    for (; !strchr(name, '/'); path += len + 1) {
        len = strcspn(path, ":");
        snprintf(out, PATH_MAX, "%.*s/%s", (int)len, path, name);
        if (access(out, X_OK) == 0 || !path[len])
            break;
    }
}

/* Start the child with default signal handling, because the server ignores some
 * signals. */
static int spawn(pid_t *pid, char **argv, char **env, int out, int errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char program[PATH_MAX];
    sigset_t all, none;
    int rc;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    find_program(argv[0], env, program);
    rc = posix_spawn(pid, program, &actions, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

struct engine_call *engine_call_run(struct engine_calls *calls, int64_t limit_ms,
                                    char **argv, char **env, int64_t now_ms,
                                    engine_answered *done, void *arg, struct error *err)
{
    struct engine_call *call = memory_zeroed(1, sizeof(*call), "a command");
    int out[2] = {-1, -1}, errors[2] = {-1, -1}, rc;

    rc = pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC) ? errno : 0;
    if (!rc)
        rc = spawn(&call->pid, argv, env, out[1], errors[1]);
    close(out[1]);
    close(errors[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    fcntl(out[0], F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(errors[0], F_SETPIPE_SZ, PIPE_BYTES);
    call->out.fd = out[0];
    call->errors.fd = errors[0];
    call->limit_ms = limit_ms;
    call->until_ms = now_ms + limit_ms;
    call->done = done;
    call->arg = arg;
    TAILQ_INSERT_TAIL(calls, call, entry);
    if (!rc)
        return call;
    call_free(calls, call);
    error_set_errno(err, ERROR_IO, rc, "cannot run %s", argv[0]);
    return NULL;
}

struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      int64_t now_ms, engine_answered *done, void *arg,
                                      struct error *err)
{
    int64_t limit_ms = (int64_t)(launcher->command_s * 1000);
    struct engine_call *call =
        engine_call_run(calls, limit_ms, argv, env, now_ms, done, arg, err);

    if (call)
        call->launcher = launcher_ref(launcher);
    return call;
}

/* ---- Ending ---- */

/* Read the available output and drop everything beyond the answer's size. A command
 * blocks when its output fills the pipe. */
static void drain(struct output *output)
{
    char rest[16384];
    ssize_t n = 0;

    while (output->len < ANSWER_MAX && (n = read(output->fd, output->text + output->len,
                                                 ANSWER_MAX - output->len)) > 0)
        output->len += (size_t)n;
    for (size_t dropped = 0; output->len == ANSWER_MAX && dropped < PIPE_BYTES &&
                             (n = read(output->fd, rest, sizeof(rest))) > 0;)
        dropped += (size_t)n;
}

const char *engine_text_clean(char *text, size_t len, bool has_lines)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    text[len] = '\0';
    utf8_trim(text);
    utf8_clean(text);
    for (char *at = text; *at; at++)
        if (((unsigned char)*at < 0x20 && (*at != '\n' || !has_lines)) || *at == 0x7f)
            *at = ' ';
    return text + strspn(text, " \n");
}

/* Read the rest of the output. The pipe may still be open, because a descendant of the
 * command may have inherited it. */
static const char *take_text(struct output *output, bool has_lines)
{
    drain(output);
    return engine_text_clean(output->text, output->len, has_lines);
}

static void answer(struct engine_call *call, const char *why)
{
    const struct engine_answer answer = {.has_failed = why[0] != '\0',
                                         .is_late = call->is_late,
                                         .launcher = call->launcher,
                                         .why = why,
                                         .text = take_text(&call->out, true),
                                         .complaint = take_text(&call->errors, false)};
    engine_answered *done = call->done;

    call->done = NULL;
    if (done)
        done(call->arg, &answer);
}

static void on_end(struct engine_call *call, int status)
{
    char why[100] = "";

    /* A command with status 0 ended before it was killed, so it is not late. */
    call->is_late = call->is_late && status != 0;
    if (call->is_late)
        snprintf(why, sizeof(why), "took too long and was killed");
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof(why), "was killed by signal %d", WTERMSIG(status));
    else if (status != 0)
        snprintf(why, sizeof(why), "ended with status %d", WEXITSTATUS(status));
    answer(call, why);
}

/* Answer without waiting for the process to exit: a process that is blocked in the kernel
 * does not die at once. It stays in the list. */
static void on_late(struct engine_call *call, int64_t now_ms)
{
    if (call->is_late) {
        answer(call, "took too long and could not be killed");
        return;
    }
    call->is_late = true;
    call->until_ms = now_ms + (call->limit_ms < DEATH_MS ? call->limit_ms : DEATH_MS);
    kill(-call->pid, SIGKILL);
}

void engine_calls_tick(struct engine_calls *calls, int64_t now_ms)
{
    struct engine_call *call, *next;
    int status;

    for (call = TAILQ_FIRST(calls); call; call = next) {
        next = TAILQ_NEXT(call, entry);
        if (waitpid(call->pid, &status, WNOHANG) == call->pid) {
            on_end(call, status);
            call_free(calls, call);
            continue;
        }
        drain(&call->out);
        drain(&call->errors);
        if (call->done && now_ms >= call->until_ms)
            on_late(call, now_ms);
    }
}

void engine_call_cancel(struct engine_call *call)
{
    call->done = NULL;
    kill(-call->pid, SIGKILL);
}

/* ---- All commands ---- */

size_t engine_calls_count(const struct engine_calls *calls, const char *launcher)
{
    const struct engine_call *call;
    size_t n = 0;

    TAILQ_FOREACH (call, calls, entry)
        n += call->launcher && strcmp(call->launcher->name, launcher) == 0;
    return n;
}

void engine_calls_abandon(struct engine_calls *calls)
{
    while (!TAILQ_EMPTY(calls))
        call_free(calls, TAILQ_FIRST(calls));
}
