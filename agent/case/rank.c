/* SPDX-License-Identifier: Apache-2.0 */
/* rank.c - runs one rank of a case */
#include "agent/case/rank.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/machine/process_state.h"
#include "agent/case/capture.h"
#include "agent/case/event_line.h"
#include "agent/case/lines.h"
#include "agent/case/log_pipe.h"
#include "agent/case/program_watch.h"
#include "agent/case/stack_quote.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/ncclog/ncclog_set.h"

#define OUTPUT_LINE_MAX ((size_t)64 * 1024)
/* send output of this size immediately */
#define OUTPUT_EVENT_BYTES ((size_t)32 * 1024)
#define TAIL_LINES 20
#define TAIL_LINE_MAX ((size_t)400)
#define LAST_LINE_MAX ((size_t)300)
/* limit of a program's processes whose NCCL logs are kept */
#define NCCL_PROCESSES_MAX 64
#define NCCL_QUIET_MS 1000 /* send the NCCL log after this time without a line */
#define BAD_LINES_MAX 20   /* invalid lines reported one by one; the rest is counted */

struct rank {
    struct rank_params params;
    struct process *process;
    bool has_ended;
    struct lines lines[PROCESS_STREAMS];
    struct capture captures[2]; /* stdout, stderr */
    char *tail[TAIL_LINES];     /* ring of the last lines of stderr */
    size_t tail_next;
    size_t n_bad_lines;
    struct program_watch watch; /* only for a program */
    struct ncclog_set ncclog;
    struct log_pipe *nccl_log; /* only for a program; or NULL */
    json_t *sent_logs;         /* array by process: the NCCL log as last sent */
    bool is_asked_for_stacks;
    struct stack_quote stacks;
    struct process_state state; /* state of the process when stacks were requested */
    char last[LAST_LINE_MAX];   /* the last output line that is not part of a stack */
};

static const char *const stream_names[] = {"stdout", "stderr"};

static void emit_steal(struct rank *rank, json_t *event)
{
    event_stream_add(rank->params.out, EVENT_OTHER, rank->params.number, event);
}

static void emit_log(struct rank *rank, const char *level, const char *text)
{
    emit_steal(rank, json_pack("{s:s, s:s, s:o}", "type", "log", "level", level, "text",
                               clean_text_json(text, strlen(text))));
}

static void flush_capture(struct rank *rank, int stream)
{
    struct buf *pending = &rank->captures[stream].pending;

    if (pending->len == 0)
        return;
    emit_steal(rank, json_pack("{s:s, s:s, s:o}", "type", "output", "stream",
                               stream_names[stream], "text",
                               clean_text_json(pending->data, pending->len)));
    buf_release(pending);
}

static void keep_tail(struct rank *rank, const char *line, size_t len)
{
    char **slot = &rank->tail[rank->tail_next];
    struct buf clean;

    buf_init(&clean, 3 * TAIL_LINE_MAX);
    clean_text_append(&clean, line, len < TAIL_LINE_MAX ? len : TAIL_LINE_MAX);
    free(*slot);
    *slot = buf_detach(&clean, NULL);
    rank->tail_next = (rank->tail_next + 1) % TAIL_LINES;
}

static bool is_program(const struct rank *rank)
{
    return rank->params.metrics != NULL;
}

static void set_text(json_t *event, const char *key, const char *text)
{
    if (text && text[0])
        json_object_set_new(event, key, clean_text_json(text, strlen(text)));
}

/* Send the stacks. Call this function once: when the stacks are complete, or when the
 * rank has ended. */
static void send_stacks(struct rank *rank)
{
    json_t *event =
        rank->is_asked_for_stacks ? json_pack("{s:s}", "type", "stack") : NULL;

    if (event) {
        set_text(event, "text", rank->stacks.text);
        set_text(event, "state", rank->state.state);
        set_text(event, "kernel", rank->state.kernel);
        set_text(event, "line", rank->last);
        emit_steal(rank, event);
    }
    rank->is_asked_for_stacks = false;
    rank->params.on_stacks(rank->params.arg);
}

/* A line of a worker's stacks does not count as its last output. */
static bool handle_stack_line(struct rank *rank, const char *line, size_t len)
{
    bool had_ended = rank->stacks.has_ended;

    if (is_program(rank) || !stack_quote_line(&rank->stacks, line, len))
        return false;
    if (rank->stacks.has_ended && !had_ended)
        send_stacks(rank);
    return true;
}

/* Keep the line. Output after the request for stacks does not count as the last line,
 * because it does not show what the rank did before the request. */
static void keep_line(struct rank *rank, int stream, const char *line, size_t len)
{
    if (!rank->is_asked_for_stacks && len > 0)
        clean_text_copy(rank->last, sizeof(rank->last), line, len);
    if (stream == PROCESS_STDERR || is_program(rank))
        keep_tail(rank, line, len);
}

static bool hide_nccl_line(struct rank *rank, const char *line, size_t len)
{
    if (ncclog_set_line(&rank->ncclog, line, len) != NCCLOG_INFO ||
        !rank->params.hides_info)
        return false;
    if (is_program(rank))
        program_watch_activity(&rank->watch);
    return true;
}

static void on_output_line(struct rank *rank, int stream, const char *line, size_t len)
{
    struct capture *capture = &rank->captures[stream];

    if (hide_nccl_line(rank, line, len))
        return;
    if (!(stream == PROCESS_STDERR && handle_stack_line(rank, line, len)))
        keep_line(rank, stream, line, len);
    if (is_program(rank))
        program_watch_line(&rank->watch,
                           stream == PROCESS_STDERR ? METRIC_STDERR : METRIC_STDOUT, line,
                           len);
    capture_add(capture, line, len);
    if (capture->pending.len >= OUTPUT_EVENT_BYTES)
        flush_capture(rank, stream);
}

static void on_stdout_line(void *arg, const char *line, size_t len, size_t dropped)
{
    (void)dropped;
    on_output_line(arg, PROCESS_STDOUT, line, len);
}

static void on_stderr_line(void *arg, const char *line, size_t len, size_t dropped)
{
    (void)dropped;
    on_output_line(arg, PROCESS_STDERR, line, len);
}

/* Handle a line of NCCL's log from its pipe. Warnings are shown in stdout, as NCCL would
 * print them. These lines are not searched for metrics. */
static void on_nccl_line(void *arg, const char *line, size_t len, size_t dropped)
{
    struct rank *rank = arg;

    (void)dropped;
    if (hide_nccl_line(rank, line, len))
        return;
    program_watch_activity(&rank->watch);
    keep_line(rank, PROCESS_STDOUT, line, len);
    capture_add(&rank->captures[PROCESS_STDOUT], line, len);
    rank->params.on_output(rank->params.arg);
}

/* An invalid line does not end the case, because other lines may be valid. */
static void report_bad_line(struct rank *rank, const char *line, size_t len,
                            const char *why)
{
    char text[800];

    if (++rank->n_bad_lines > BAD_LINES_MAX)
        return;
    snprintf(text, sizeof(text), "ignored a line on the event pipe: %.400s: %.*s%s", why,
             (int)(len < 200 ? len : 200), line, len > 200 ? "..." : "");
    emit_log(rank, "error", text);
}

/* Send the logs that have changed. */
static void send_ncclog(void *arg)
{
    struct rank *rank = arg;

    for (size_t i = 0; i < rank->ncclog.n; i++) {
        json_t *log = ncclog_set_json(&rank->ncclog, i);

        if (i == json_array_size(rank->sent_logs))
            json_array_append_new(rank->sent_logs, json_null());
        if (log && !json_equal(json_array_get(rank->sent_logs, i), log)) {
            json_array_set(rank->sent_logs, i, log);
            emit_steal(rank, json_pack("{s:s, s:O}", "type", "nccl", "log", log));
        }
        json_decref(log);
    }
}

/* The first call may connect thousands of ranks. Until it ends, the number of links in
 * NCCL's log shows progress. */
static void send_progress(struct rank *rank, json_t *event)
{
    long links = ncclog_set_links(&rank->ncclog);

    if (links > 0)
        json_object_set_new(event, "links", json_integer(links));
    event_stream_add(rank->params.out, EVENT_PROGRESS, rank->params.number,
                     json_incref(event));
    /* The first call makes all connections, so the log is complete when that call has
     * ended. Send the log then, and at the rank's end if the log has changed. */
    if (json_array_size(rank->sent_logs) == 0 && json_get_int(event, "done", 0) > 0)
        send_ncclog(rank);
}

static void on_event_line(void *arg, const char *line, size_t len, size_t dropped)
{
    struct rank *rank = arg;
    const struct rank_params *params = &rank->params;
    json_t *event = NULL;
    struct error err;
    const char *type;

    if (!line)
        error_set(&err, ERROR_LIMIT, "%zu bytes exceed the limit of %d", dropped,
                  EVENT_LINE_MAX);
    else
        event = event_line_parse(line, len, &err);
    if (!event) {
        report_bad_line(rank, line ? line : "", len, err.text);
        return;
    }
    type = json_get_str(event, "type", "");
    if (strcmp(type, "progress") == 0) {
        send_progress(rank, event);
    } else {
        if (strcmp(type, "done") == 0)
            params->on_done(params->arg, event);
        event_stream_line(params->out, EVENT_OTHER, params->number, line, len);
    }
    json_decref(event);
}

static const lines_fn line_fns[PROCESS_STREAMS] = {on_stdout_line, on_stderr_line,
                                                   on_event_line};

static void on_data(void *arg, enum process_stream stream, const char *data, size_t len)
{
    struct rank *rank = arg;

    /* A program sends no events. */
    if (stream == PROCESS_EVENTS && is_program(rank))
        return;
    lines_feed(&rank->lines[stream], data, len, line_fns[stream], rank);
    if (stream != PROCESS_EVENTS && rank->captures[stream].pending.len > 0)
        rank->params.on_output(rank->params.arg);
}

static json_t *tail_json(const struct rank *rank)
{
    json_t *tail = json_array();

    for (size_t i = 0; i < TAIL_LINES; i++) {
        const char *line = rank->tail[(rank->tail_next + i) % TAIL_LINES];

        if (line)
            json_array_append_new(tail, clean_text_json(line, strlen(line)));
    }
    return tail;
}

static void end_output(struct rank *rank)
{
    char text[80];

    for (int i = 0; i < PROCESS_STREAMS; i++)
        lines_end(&rank->lines[i], line_fns[i], rank);
    if (rank->nccl_log)
        log_pipe_end(rank->nccl_log);
    for (int i = 0; i < 2; i++) {
        flush_capture(rank, i);
        capture_end(&rank->captures[i], stream_names[i]);
        flush_capture(rank, i);
    }
    if (rank->n_bad_lines <= BAD_LINES_MAX)
        return;
    snprintf(text, sizeof(text), "ignored %zu more lines on the event pipe",
             rank->n_bad_lines - BAD_LINES_MAX);
    emit_log(rank, "error", text);
}

static void on_end(void *arg, bool is_signal, int number)
{
    struct rank *rank = arg;
    const struct rank_params *params = &rank->params;
    json_t *end;

    assert(!rank->has_ended);
    rank->has_ended = true;
    end_output(rank);
    if (rank->is_asked_for_stacks)
        send_stacks(rank);
    send_ncclog(rank);
    if (is_program(rank))
        program_watch_end(&rank->watch, is_signal, number);
    end = json_pack("{s:s, s:i, s:o}", "type", "exit", is_signal ? "signal" : "code",
                    number, "tail", tail_json(rank));
    if (end)
        set_text(end, "warning", ncclog_set_failure(&rank->ncclog));
    event_stream_add(params->out, EVENT_ENDED, params->number, end);
    params->on_end(params->arg, rank);
}

struct rank *rank_start(const struct rank_params *params, struct error *err)
{
    struct rank *rank = memory_zeroed(1, sizeof(*rank), "a rank");
    struct process_handlers handlers = {on_data, on_end, rank};
    const struct log_pipe_handlers nccl_handlers = {on_nccl_line, send_ncclog,
                                                    NCCL_QUIET_MS, rank};

    rank->params = *params;
    lines_init(&rank->lines[PROCESS_STDOUT], OUTPUT_LINE_MAX, LINES_CUT);
    lines_init(&rank->lines[PROCESS_STDERR], OUTPUT_LINE_MAX, LINES_CUT);
    lines_init(&rank->lines[PROCESS_EVENTS], EVENT_LINE_MAX, LINES_DROP);
    capture_init(&rank->captures[0]);
    capture_init(&rank->captures[1]);
    ncclog_set_init(&rank->ncclog, is_program(rank) ? NCCL_PROCESSES_MAX : 1);
    rank->sent_logs = json_array();
    if (params->nccl_log)
        rank->nccl_log = log_pipe_open(process_tree_loop(params->tree), params->nccl_log,
                                       &nccl_handlers, err);
    if (!params->nccl_log || rank->nccl_log)
        rank->process = process_spawn(params->tree, &params->program, &handlers, err);
    /* The rank is not freed, because this process ends after a failed start. */
    if (!rank->process)
        return NULL;
    event_stream_add(
        params->out, EVENT_STARTED, params->number,
        json_pack("{s:s, s:i}", "type", "spawn", "pid", (int)process_pid(rank->process)));
    rank->watch = (struct program_watch){
        .out = params->out, .metrics = params->metrics, .number = params->number};
    if (is_program(rank))
        program_watch_begin(&rank->watch, process_pid(rank->process));
    return rank;
}

const struct process_usage *rank_usage(const struct rank *rank)
{
    return process_usage(rank->process);
}

void rank_fail(struct rank *rank, const char *code, const char *text)
{
    if (is_program(rank) && !rank->has_ended)
        program_watch_fail(&rank->watch, code, text);
}

void rank_signal(struct rank *rank, int signum)
{
    rank->watch.is_stopped = true;
    process_signal(rank->process, signum);
}

void rank_ask_stacks(struct rank *rank)
{
    rank->is_asked_for_stacks = true;
    rank->stacks = (struct stack_quote){0};
    if (!rank->has_ended)
        process_state_read(process_pid(rank->process), &rank->state);
    process_signal_leader(rank->process, SIGUSR2);
}

bool rank_has_sent_stacks(const struct rank *rank)
{
    return rank->has_ended || rank->stacks.has_ended;
}

void rank_pause(struct rank *rank)
{
    process_pause(rank->process);
}

void rank_resume(struct rank *rank)
{
    process_resume(rank->process);
}

void rank_flush(struct rank *rank)
{
    flush_capture(rank, PROCESS_STDOUT);
    flush_capture(rank, PROCESS_STDERR);
}
