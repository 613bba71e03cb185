/* SPDX-License-Identifier: Apache-2.0 */
/* program_watch.c - sends events on behalf of a program, which sends none itself */
#include "agent/case/program_watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/safe_regex.h"
#include "common/base/time_scale.h"

#define PROGRESS_NS scaled_s_to_ns(1)

static void emit_steal(const struct program_watch *watch, json_t *event)
{
    event_stream_add(watch->out, EVENT_OTHER, watch->number, event);
}

void program_watch_begin(struct program_watch *watch, pid_t pid)
{
    emit_steal(watch, json_pack("{s:s, s:i, s:s, s:s, s:i}", "type", "hello", "protocol",
                                1, "backend", "program", "version", RINGBENCH_VERSION,
                                "pid", (int)pid));
    emit_steal(watch, json_pack("{s:s, s:s}", "type", "phase", "phase", "running"));
}

static void send_progress(struct program_watch *watch)
{
    int64_t now_ns = clock_monotonic_ns();
    char text[160];
    int n;

    if (watch->lines > 1 && now_ns - watch->progress_ns < PROGRESS_NS)
        return;
    watch->progress_ns = now_ns;
    n = snprintf(text, sizeof(text),
                 "{\"type\":\"progress\",\"op\":%" PRIu64 ",\"done\":%" PRIu64
                 ",\"phase\":\"output\"}",
                 watch->lines, watch->lines);
    event_stream_line(watch->out, EVENT_PROGRESS, watch->number, text, (size_t)n);
}

static void warn(const struct program_watch *watch, const char *text)
{
    emit_steal(watch, json_pack("{s:s, s:s, s:s}", "type", "log", "level", "warn", "text",
                                text));
}

/* Log the first line of a metric on which its regex gave up. Count further such lines. */
static void on_given_up(void *arg, const struct metric *metric)
{
    struct program_watch *watch = arg;
    char text[200];

    if (watch->given_up++ > 0)
        return;
    snprintf(text, sizeof(text),
             "metric %s: skipped a line on which its regex took more than %d steps",
             metric->name, SAFE_REGEX_STEPS_MAX);
    warn(watch, text);
}

static void report_given_up(const struct program_watch *watch)
{
    char text[80];

    if (watch->given_up < 2)
        return;
    snprintf(text, sizeof(text),
             "skipped %" PRIu64 " lines, because a metric's regex took too long",
             watch->given_up);
    warn(watch, text);
}

/* `value` is NAN if `reason` explains why there is no value. */
static void send_figure(const struct program_watch *watch, const struct metric *metric,
                        double value, const char *reason, json_t *labels)
{
    json_t *event =
        json_pack("{s:s, s:s, s:s, s:b}", "type", "metric", "metric", metric->name,
                  "unit", metric->unit, "higher_is_better", metric->higher_is_better);

    if (reason)
        json_object_set_new(event, "skipped", json_string(reason));
    else
        json_object_set_new(event, "value", json_real(value));
    if (event && json_object_size(labels) > 0)
        json_object_set(event, "labels", labels);
    emit_steal(watch, event);
}

/* Drop a figure above the limit. Send an event with the reason, so that a judgement of
 * the kept figures can take it into account. */
static void cut(struct program_watch *watch, const struct metric *metric)
{
    char text[120];

    for (size_t i = 0; i < watch->n_cut; i++)
        if (watch->cut[i] == metric)
            return;
    snprintf(text, sizeof(text),
             "more than %d figures: further figures of this rank are dropped",
             PROGRAM_FIGURES_MAX);
    if (watch->n_cut == 0)
        warn(watch, text);
    watch->cut[watch->n_cut++] = metric;
    send_figure(watch, metric, (double)NAN, text, NULL);
}

static void on_figure(void *arg, const struct metric *metric, double value,
                      json_t *labels)
{
    struct program_watch *watch = arg;
    char text[64];

    snprintf(text, sizeof(text), "the program printed %s",
             isnan(value)  ? "nan"
             : value > 0.0 ? "inf"
                           : "-inf");
    if (++watch->figures > PROGRAM_FIGURES_MAX)
        cut(watch, metric);
    else
        send_figure(watch, metric, value, isfinite(value) ? NULL : text, labels);
}

void program_watch_line(struct program_watch *watch, enum metric_stream stream,
                        const char *line, size_t len)
{
    const struct metric_handlers handlers = {on_figure, on_given_up, watch};

    metric_set_line(watch->metrics, stream, line, len, &handlers);
    program_watch_activity(watch);
}

void program_watch_activity(struct program_watch *watch)
{
    watch->lines++;
    send_progress(watch);
}

static void report_failure(struct program_watch *watch, const char *code,
                           const char *text)
{
    watch->is_reported = true;
    emit_steal(watch, json_pack("{s:s, s:b, s:{s:s, s:s}}", "type", "done", "ok", 0,
                                "error", "code", code, "text", text));
}

void program_watch_fail(struct program_watch *watch, const char *code, const char *text)
{
    if (!watch->is_reported)
        report_failure(watch, code, text);
}

void program_watch_end(struct program_watch *watch, bool is_signal, int number)
{
    report_given_up(watch);
    if (watch->is_reported)
        return;
    if (!is_signal && number == 0) {
        watch->is_reported = true;
        emit_steal(watch, json_pack("{s:s, s:b}", "type", "done", "ok", 1));
    } else if (watch->is_stopped) {
        report_failure(watch, "cancelled", "stopped on request");
    }
}
