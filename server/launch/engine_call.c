/* engine_call.c - a command of a launcher, run beside the loop */
#include "server/launch/engine_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/utf8.h"

#define ANSWER_MAX 4096
#define DEATH_MS 5000 /* that a command which was killed may take to end */

enum { OUT, ERRORS, PIPES };

struct engine_call {
    TAILQ_ENTRY(engine_call) entry;
    struct engine_calls *calls; /* whose list it is in; NULL: abandoned */
    struct launcher *launcher;
    uv_process_t process;
    uv_timer_t timer;
    int pipes[PIPES];      /* this server's ends, read when the command has ended */
    engine_answered *done; /* NULL: answered, or nobody wants to know */
    void *arg;
    bool is_late;
    int open; /* handles */
};

static void on_closed(uv_handle_t *handle)
{
    struct engine_call *call = handle->data;

    if (--call->open > 0)
        return;
    if (call->calls)
        TAILQ_REMOVE(&call->calls->list, call, entry);
    for (int i = 0; i < PIPES; i++)
        close(call->pipes[i]);
    launcher_unref(call->launcher);
    free(call);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* The pipe does not block: what the command started may hold its other end. */
static void read_text(int fd, bool has_lines, char text[ANSWER_MAX + 1])
{
    size_t len = 0;
    ssize_t n;

    while (len < ANSWER_MAX && (n = read(fd, text + len, ANSWER_MAX - len)) != 0)
        if (n > 0)
            len += (size_t)n;
        else if (errno != EINTR)
            break;
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
}

static void answer(struct engine_call *call, const char *why)
{
    char out[ANSWER_MAX + 1], errors[ANSWER_MAX + 1];
    struct engine_answer answer = {.has_failed = why[0] != '\0',
                                   .is_late = call->is_late,
                                   .launcher = call->launcher,
                                   .why = why};
    engine_answered *done = call->done;

    call->done = NULL;
    close_handle((uv_handle_t *)&call->timer);
    if (!done)
        return;
    read_text(call->pipes[OUT], true, out);
    read_text(call->pipes[ERRORS], false, errors);
    answer.text = out + strspn(out, " \n");
    answer.complaint = errors + strspn(errors, " ");
    done(call->arg, &answer);
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    struct engine_call *call = process->data;
    char why[100] = "";

    close_handle((uv_handle_t *)process);
    call->is_late =
        call->is_late && (status != 0 || number != 0); /* it was done before */
    if (call->is_late)
        snprintf(why, sizeof(why), "took too long and was killed");
    else if (number)
        snprintf(why, sizeof(why), "was ended by signal %d", number);
    else if (status != 0)
        snprintf(why, sizeof(why), "ended with status %d", (int)status);
    answer(call, why);
}

static uint64_t ms_of(double seconds)
{
    return (uint64_t)(seconds * 1000);
}

/* A process that waits in the kernel does not die; nobody waits for it. It stays in the
 * list, though. */
static void on_late(uv_timer_t *timer)
{
    struct engine_call *call = timer->data;
    uint64_t command_ms = ms_of(call->launcher->command_s);

    if (call->is_late) {
        answer(call, "took too long and was killed, which has not ended it");
        return;
    }
    call->is_late = true;
    kill(-engine_call_pid(call), SIGKILL);
    uv_timer_start(timer, on_late, command_ms < DEATH_MS ? command_ms : DEATH_MS, 0);
}

static int spawn(struct engine_call *call, char **argv, char **env)
{
    int fds[PIPES][2] = {{-1, -1}, {-1, -1}}, fault = 0, rc;
    uv_stdio_container_t stdio[1 + PIPES] = {{.flags = UV_IGNORE}};
    const uv_process_options_t options = {.exit_cb = on_exit_of,
                                          .file = argv[0],
                                          .args = argv,
                                          .env = env,
                                          .flags = UV_PROCESS_DETACHED,
                                          .stdio_count = 1 + PIPES,
                                          .stdio = stdio};

    for (int i = 0; i < PIPES; i++) {
        if (pipe2(fds[i], O_CLOEXEC) || fcntl(fds[i][0], F_SETFL, O_NONBLOCK))
            fault = -errno; /* uv_spawn refuses what is no descriptor */
        call->pipes[i] = fds[i][0];
        stdio[1 + i].flags = UV_INHERIT_FD;
        stdio[1 + i].data.fd = fds[i][1];
    }
    rc = uv_spawn(call->calls->loop, &call->process, &options);
    call->process.data = call;
    for (int i = 0; i < PIPES; i++)
        close(fds[i][1]);
    return fault ? fault : rc;
}

struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      engine_answered *done, void *arg, struct error *err)
{
    struct engine_call *call = calloc(1, sizeof(*call));
    int rc;

    if (!call)
        memory_out("a launcher's command");
    call->calls = calls;
    call->launcher = launcher_ref(launcher);
    TAILQ_INSERT_TAIL(&calls->list, call, entry);
    uv_timer_init(calls->loop, &call->timer);
    call->timer.data = call;
    call->open = 2;
    rc = spawn(call, argv, env);
    if (rc < 0) {
        error_set(err, ERROR_IO, "can't run %s: %s", argv[0], uv_strerror(rc));
        close_handle((uv_handle_t *)&call->process);
        close_handle((uv_handle_t *)&call->timer);
        return NULL;
    }
    call->done = done;
    call->arg = arg;
    uv_timer_start(&call->timer, on_late, ms_of(launcher->command_s), 0);
    return call;
}

int engine_call_pid(const struct engine_call *call)
{
    return uv_process_get_pid(&call->process);
}

void engine_call_cancel(struct engine_call *call)
{
    call->done = NULL;
    kill(-engine_call_pid(call), SIGKILL);
}

/* ---- All of them ---- */

void engine_calls_init(struct engine_calls *calls, uv_loop_t *loop)
{
    calls->loop = loop;
    TAILQ_INIT(&calls->list);
}

size_t engine_calls_count(const struct engine_calls *calls, const char *launcher)
{
    const struct engine_call *call;
    size_t n = 0;

    TAILQ_FOREACH (call, &calls->list, entry)
        n += strcmp(call->launcher->name, launcher) == 0;
    return n;
}

void engine_calls_abandon(struct engine_calls *calls)
{
    struct engine_call *call;

    while ((call = TAILQ_FIRST(&calls->list))) {
        TAILQ_REMOVE(&calls->list, call, entry);
        call->calls = NULL;
        call->done = NULL;
        close_handle((uv_handle_t *)&call->process);
        close_handle((uv_handle_t *)&call->timer);
    }
}
