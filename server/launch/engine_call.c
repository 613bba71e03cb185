/* engine_call.c - a command of a launcher, run beside the loop, and how many may be */
#include "server/launch/engine_call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

#define ANSWER_MAX 4096
#define LAST_WORDS_MS 1000
#define DEATH_MS 5000 /* a command that was killed may take to go, */

struct output {
    uv_pipe_t pipe;
    char text[ANSWER_MAX + 1];
    size_t len;
    char rest[ANSWER_MAX]; /* is read, and not kept */
};

struct engine_call {
    TAILQ_ENTRY(engine_call) entry;
    struct engine_calls *calls; /* whose list it is in; NULL: abandoned */
    struct launcher *launcher;
    uv_process_t process;
    uv_timer_t timer;
    struct output out, errors;
    engine_answered *done; /* NULL: nobody wants to know */
    void *arg;
    bool is_late, has_exited, is_answered;
    int64_t status;
    int signal;
    int open; /* handles, and pipes that are not at their end among them */
    int unread;
};

static void on_closed(uv_handle_t *handle)
{
    struct engine_call *call = handle->data;

    if (--call->open > 0)
        return;
    if (call->calls)
        TAILQ_REMOVE(&call->calls->list, call, entry);
    launcher_unref(call->launcher);
    free(call);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* All but the process: closed before its end it would stay a zombie. */
static void close_ears(struct engine_call *call)
{
    close_handle((uv_handle_t *)&call->timer);
    close_handle((uv_handle_t *)&call->out.pipe);
    close_handle((uv_handle_t *)&call->errors.pipe);
}

/* As text: of lines, or all of it in one. */
static const char *trim(struct output *output, bool has_lines)
{
    for (size_t i = 0; i < output->len; i++)
        if (output->text[i] == '\0')
            output->text[i] = '?';
    while (output->len > 0 && strchr(" \t\r\n", output->text[output->len - 1]))
        output->len--;
    output->text[output->len] = '\0';
    utf8_trim(output->text);
    utf8_clean(output->text);
    for (char *at = output->text; *at; at++)
        if (((unsigned char)*at < 0x20 && (*at != '\n' || !has_lines)) || *at == 0x7f)
            *at = ' ';
    return output->text + strspn(output->text, " \n");
}

static void answer(struct engine_call *call)
{
    char why[100] = "";
    struct engine_answer answer = {.is_late = call->is_late,
                                   .launcher = call->launcher,
                                   .why = why,
                                   .text = trim(&call->out, true),
                                   .complaint = trim(&call->errors, false)};

    if (call->is_late)
        snprintf(why, sizeof(why), "took too long and was killed%s",
                 call->has_exited ? "" : ", which has not ended it");
    else if (call->signal)
        snprintf(why, sizeof(why), "was ended by signal %d", call->signal);
    else if (call->status != 0)
        snprintf(why, sizeof(why), "ended with status %d", (int)call->status);
    answer.has_failed = why[0] != '\0';
    call->is_answered = true;
    close_ears(call);
    if (call->done)
        call->done(call->arg, &answer);
}

/* What it started may hold its pipes: those who wait for it do not wait for that. */
static void answer_if_over(struct engine_call *call)
{
    if (call->has_exited && (call->unread == 0 || call->is_late) && !call->is_answered)
        answer(call);
}

static void on_late(uv_timer_t *timer);

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    struct engine_call *call = process->data;

    call->has_exited = true;
    call->status = status;
    call->signal = number;
    call->is_late =
        call->is_late && (status != 0 || number != 0); /* it had ended before */
    close_handle((uv_handle_t *)process);
    answer_if_over(call);
    if (!call->is_answered) /* something holds its pipes */
        uv_timer_start(&call->timer, on_late, LAST_WORDS_MS, 0);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct output *output = (struct output *)handle;

    (void)suggested;
    if (output->len < ANSWER_MAX)
        *buf =
            uv_buf_init(output->text + output->len, (unsigned)(ANSWER_MAX - output->len));
    else
        *buf = uv_buf_init(output->rest, sizeof(output->rest));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct output *output = (struct output *)stream;
    struct engine_call *call = stream->data;

    if (n > 0 && buf->base != output->rest)
        output->len += (size_t)n;
    if (n >= 0)
        return;
    uv_read_stop(stream);
    call->unread--;
    answer_if_over(call);
}

static uint64_t ms_of(double seconds)
{
    return (uint64_t)(seconds * 1000);
}

/* Its group: it leads one. */
static void kill_all(const struct engine_call *call)
{
    kill(-engine_call_pid(call), SIGKILL);
}

/* Or what it left behind, which holds its pipes, is not waited for; nor a process that
 * does not die, since it waits in the kernel. */
static void on_late(uv_timer_t *timer)
{
    struct engine_call *call = timer->data;

    if (call->has_exited) {
        call->unread = 0;
        answer_if_over(call);
    } else if (call->is_late) {
        answer(call);
    } else {
        uint64_t command_ms =
            ms_of(call->launcher->command_s); /* nor longer than it ran */

        call->is_late = true;
        kill_all(call);
        uv_timer_start(timer, on_late, command_ms < DEATH_MS ? command_ms : DEATH_MS, 0);
    }
}

static int spawn(struct engine_call *call, uv_loop_t *loop, char **argv, char **env)
{
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
                                     {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
                                      .data.stream = (uv_stream_t *)&call->out.pipe},
                                     {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
                                      .data.stream = (uv_stream_t *)&call->errors.pipe}};
    const uv_process_options_t options = {.exit_cb = on_exit_of,
                                          .file = argv[0],
                                          .args = argv,
                                          .env = env,
                                          .flags = UV_PROCESS_DETACHED,
                                          .stdio_count = 3,
                                          .stdio = stdio};

    return uv_spawn(loop, &call->process, &options);
}

struct engine_call *engine_call_start(struct engine_calls *calls,
                                      struct launcher *launcher, char **argv, char **env,
                                      engine_answered *done, void *arg, struct error *err)
{
    struct engine_call *call = calloc(1, sizeof(*call));
    int rc;

    if (!call) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    uv_timer_init(calls->loop, &call->timer);
    uv_pipe_init(calls->loop, &call->out.pipe, 0);
    uv_pipe_init(calls->loop, &call->errors.pipe, 0);
    rc = spawn(call, calls->loop, argv, env);
    call->process.data = call->timer.data = call;
    call->out.pipe.data = call->errors.pipe.data = call;
    call->open = 4;
    call->calls = calls;
    call->launcher = launcher_ref(launcher);
    TAILQ_INSERT_TAIL(&calls->list, call, entry);
    if (rc < 0) {
        error_set(err, ERROR_IO, "can't run %s: %s", argv[0], uv_strerror(rc));
        close_handle((uv_handle_t *)&call->process);
        close_ears(call);
        return NULL;
    }
    call->done = done;
    call->arg = arg;
    call->unread = 2;
    uv_read_start((uv_stream_t *)&call->out.pipe, on_alloc, on_read);
    uv_read_start((uv_stream_t *)&call->errors.pipe, on_alloc, on_read);
    uv_timer_start(&call->timer, on_late, ms_of(launcher->command_s), 0);
    return call;
}

int engine_call_pid(const struct engine_call *call)
{
    return uv_process_get_pid(&call->process);
}

void engine_call_forget(struct engine_call *call)
{
    call->done = NULL;
}

void engine_call_cancel(struct engine_call *call)
{
    engine_call_forget(call);
    if (!call->has_exited)
        kill_all(call);
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

bool engine_calls_have_room(const struct engine_calls *calls, const char *launcher,
                            bool is_stop)
{
    size_t spared = is_stop ? 0 : ENGINE_CALLS_SPARED, n = 0;
    const struct engine_call *call;

    TAILQ_FOREACH (call, &calls->list, entry)
        n++;
    return n < ENGINE_CALLS_MAX - spared &&
           engine_calls_count(calls, launcher) < ENGINE_CALLS_OF_ONE - spared;
}

void engine_calls_abandon(struct engine_calls *calls)
{
    struct engine_call *call;

    while ((call = TAILQ_FIRST(&calls->list))) {
        TAILQ_REMOVE(&calls->list, call, entry);
        call->calls = NULL;
        call->done = NULL;
        close_handle((uv_handle_t *)&call->process);
        close_ears(call);
    }
}
