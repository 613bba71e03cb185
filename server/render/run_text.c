/* SPDX-License-Identifier: Apache-2.0 */
/* run_text.c - writes a run as text for a terminal */
#include "server/render/run_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/units.h"
#include "common/result/headline.h"
#include "common/result/noise.h"
#include "common/spec/run_matrix.h"
#include "common/spec/run_spec.h"
#include "server/finding/template.h"
#include "server/finding/verdict.h"
#include "server/render/conditions_text.h"
#include "server/render/table.h"
#include "server/render/transport_text.h"
#include "server/plan/follow_up.h"
#include "server/summary/result_record.h"

/* Shortest interval in ms between lines about joined ranks. When all have joined, the
 * line is written at once. */
#define JOINED_INTERVAL_MS 2000
#define NODES_NAMED_MAX 8
#define GROUPS_NAMED_MAX 16
#define RANKS_NAMED_MAX 16
#define WAYS_NAMED_MAX 32
#define END_MAX ((size_t)1 << 20)

struct run_text {
    char *id, *link, *post;
    json_t *labels, *notes; /* current values, after edits */
    struct table table;
    char state[32];
    char reason[512]; /* reason for `state` */
    int64_t started_ms;
    int64_t rows_total;
    uint64_t rows, figures, skipped, wrong;
    struct headline headline;
    struct noise noise;
    double noise_limit;
    const char *unreal; /* "simulated", "emulated", or NULL; static */
    size_t n_cases, n_nodes;
    int64_t case_no, attempt;
    /* For each rank of the current case, true if the rank has joined. */
    bool *has_joined;
    size_t world_size, joined, joined_shown;
    int64_t joined_shown_ms;
    struct {
        double init_s;
        int64_t init_bytes, buffer_bytes, end_bytes;
    } most; /* maxima over the current case's ranks; -1: not reported */
    struct conditions_text conditions; /* conditions of the current case */
    char settings[256]; /* settings of the timed loop that differ from their defaults */
    bool is_over;       /* the run had already ended when this text began */
    bool says_stop;
    bool can_follow_up; /* a follow-up is possible if the run has enough nodes */
    struct buf end;     /* last lines of the text, once the run has ended */
    bool has_ended;
    bool has_pattern; /* cases on different nodes run at the same time */
    bool is_program;  /* rows are figures, and their total is unknown */
};

static void forget_most(struct run_text *text)
{
    text->most.init_s = -1.0;
    text->most.init_bytes = text->most.buffer_bytes = text->most.end_bytes = -1;
}

static void add_setting(char *out, size_t size, const char *name, json_t *value)
{
    char text[32] = "on";
    size_t n = strlen(out);

    if (json_is_integer(value))
        snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
    snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", name,
             json_is_string(value) ? json_string_value(value) : text);
}

static void describe_settings(const json_t *spec, char *out, size_t size)
{
    json_t *settings = run_spec_settings(spec), *value, *member;
    const char *name, *key;

    json_object_foreach (settings, name, value) {
        if (!json_is_object(value))
            add_setting(out, size, name, value);
        json_object_foreach (value, key, member)
            add_setting(out, size, key, member);
    }
    json_decref(settings);
}

struct run_text *run_text_create(const json_t *run, const char *link, const char *post)
{
    struct run_text *text = memory_zeroed(1, sizeof(*text), "a run's text");

    text->n_cases = json_array_size(json_object_get(run, "cases"));
    table_init(&text->table, json_object_get(run, "spec"), text->n_cases > 1);
    text->has_pattern = text->table.held != NULL;
    /* Cases run at the same time, so a separate line reports each case's end before its
     * rows. The headings therefore need not name the case. */
    if (text->has_pattern)
        text->table.names_cases = false;
    table_name_cases(&text->table, json_object_get(run, "cases"));
    forget_most(text);
    buf_init(&text->end, END_MAX);
    text->id = memory_text(json_get_str(run, "id", "?"), "a run's text");
    text->link = memory_text(link, "a run's text");
    text->labels = clean_text_shown(json_object_get(run, "labels"), false);
    text->notes = clean_text_shown(json_object_get(run, "notes"), true);
    text->post = memory_text(post, "a run's text");
    text->is_over = json_is_string(json_object_get(run, "ended"));
    text->can_follow_up = post && follow_up_fits(run);
    text->case_no = -1;
    describe_settings(json_object_get(run, "spec"), text->settings,
                      sizeof(text->settings));
    text->noise_limit =
        json_get_num(json_object_get(run, "spec"), "noise_limit", RUN_SPEC_NOISE_LIMIT);
    text->is_program = json_object_get(json_object_get(run, "spec"), "program") != NULL;
    return text;
}

void run_text_destroy(struct run_text *text)
{
    if (!text)
        return;
    table_release(&text->table);
    buf_release(&text->end);
    headline_release(&text->headline);
    free(text->has_joined);
    free(text->id);
    free(text->link);
    free(text->post);
    json_decref(text->labels);
    json_decref(text->notes);
    free(text);
}

/* Append comment lines. Each line break in the text begins a new comment line. */
static void put_comment(struct buf *out, const char *words)
{
    buf_append_str(out, "# ");
    for (; *words; words++)
        if (*words == '\n' && words[1])
            buf_append_str(out, "\n#   ");
        else if (*words != '\n')
            buf_append(out, words, 1);
    buf_append_str(out, "\n");
}

/* Append a line rendered from a template. Members of `inner` take precedence over those
 * of `outer`. */
static void put_line(struct buf *out, const char *template, const json_t *inner,
                     const json_t *outer)
{
    struct buf words;

    buf_init(&words, END_MAX);
    template_render(template, inner, outer, &words);
    put_comment(out, words.data ? words.data : "");
    buf_release(&words);
}

static void put_labels(json_t *labels, struct buf *out)
{
    const char *key, *comma = "";
    json_t *value;

    if (json_object_size(labels) == 0)
        return;
    buf_append_str(out, "# labels: ");
    json_object_foreach (labels, key, value) {
        buf_printf(out, "%s%s=%s", comma, key, json_string_value(value));
        comma = ", ";
    }
    buf_append_str(out, "\n");
}

void run_text_say_stop(struct run_text *text)
{
    text->says_stop = text->post != NULL;
}

void run_text_begin(const struct run_text *text, struct buf *out)
{
    buf_printf(out, "# run %s  %s\n", text->id, text->link);
    if (text->says_stop && !text->is_over)
        buf_printf(out, "# stop: %s/cancel\n", text->post);
    if (text->settings[0])
        buf_printf(out, "# %s\n", text->settings);
    put_labels(text->labels, out);
    if (json_string_length(text->notes) > 0) {
        buf_append_str(out, "# notes:\n");
        put_comment(out, json_string_value(text->notes));
    }
}

bool run_text_has_pending(const struct run_text *text)
{
    return text->joined != text->joined_shown;
}

void run_text_flush(struct run_text *text, struct buf *out)
{
    if (!run_text_has_pending(text))
        return;
    text->joined_shown = text->joined;
    buf_printf(out, "# %zu of %zu ranks joined\n", text->joined, text->world_size);
}

static bool is_final(const char *state)
{
    return strcmp(state, "completed") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0 || strcmp(state, "skipped") == 0;
}

static void put_in_line(struct buf *out, const char *words)
{
    for (; *words; words++)
        buf_append(out, *words == '\n' ? " " : words, 1);
}

/* Append a verdict, unless its answer is not worth reporting. A verdict with checks gets
 * a line for each check. */
static void put_verdict(const json_t *verdict, struct buf *out)
{
    json_t *check;
    size_t i;
    const json_t *checks =
        json_object_get(json_object_get(verdict, "evidence"), "checks");

    if (verdict_is_quiet(verdict))
        return;
    if (json_array_size(checks) == 0 && !verdict_is_result(verdict))
        put_line(out, "{kind}: {sentence}", verdict, NULL);
    json_array_foreach (checks, i, check)
        put_line(out, "{kind} {check}: {answer}: {sentence}[ (fix: {command})]", check,
                 verdict);
}

static void put_verdicts(const json_t *event, struct buf *out)
{
    const json_t *verdicts = json_object_get(event, "verdicts");

    for (size_t i = 0; i < json_array_size(verdicts); i++)
        put_verdict(json_array_get(verdicts, i), out);
}

/* Append the verdicts that are the run's result to its last line. */
static void put_results(const json_t *event, struct buf *out)
{
    const json_t *verdicts = json_object_get(event, "verdicts");

    for (size_t i = 0; i < json_array_size(verdicts); i++) {
        const json_t *verdict = json_array_get(verdicts, i);

        if (!verdict_is_result(verdict))
            continue;
        buf_printf(out, "; %s: %s: ", json_get_str(verdict, "kind", "?"),
                   json_get_str(verdict, "answer", "?"));
        put_in_line(out, json_get_str(verdict, "sentence", ""));
    }
}

/* Append the precision after the headline, as in " (interval 20.1 to 95.4; 12 of 54 rows
 * are less certain than 10 %)". */
static void put_noise(const struct run_text *text, struct buf *out)
{
    char interval[HEADLINE_TEXT_MAX], sentence[NOISE_SENTENCE_MAX];

    if (!noise_is_said(&text->noise, headline_half(&text->headline), text->noise_limit))
        return;
    buf_append_str(out, " (");
    if (text->headline.is_judged)
        buf_printf(out, "interval %s; ", headline_interval(&text->headline, interval));
    buf_printf(out, "%s)", noise_sentence(&text->noise, text->noise_limit, sentence));
}

/* Append the number of rows and figures, the duration and the headline. */
static void put_count(const struct run_text *text, int64_t time_ms, struct buf *out)
{
    double seconds = (double)(time_ms - text->started_ms) / 1e3;
    char headline[HEADLINE_TEXT_MAX];

    if (text->rows || (!text->figures && !text->is_program))
        buf_printf(out, "%llu row%s%s", (unsigned long long)text->rows,
                   text->rows == 1 ? "" : "s", text->figures ? " and " : "");
    if (text->figures || text->is_program)
        buf_printf(out, "%llu figure%s", (unsigned long long)text->figures,
                   text->figures == 1 ? "" : "s");
    if (text->skipped)
        buf_printf(out, " (%llu skipped)", (unsigned long long)text->skipped);
    if (text->started_ms > 0)
        buf_printf(out, " in %.1f s", seconds > 0.0 ? seconds : 0.0);
    if (text->headline.busbw_gbs.n > 0)
        buf_printf(out, ", busbw %s", headline_text(&text->headline, headline));
    put_noise(text, out);
    if (text->unreal)
        buf_printf(out, ", %s", text->unreal);
    if (text->wrong)
        buf_printf(out, ", %llu wrong element%s", (unsigned long long)text->wrong,
                   text->wrong == 1 ? "" : "s");
}

/* Write the run's last lines to `out`, a buffer that is sent after later edits. The last
 * line contains the reason and the verdict, so that `tail -1` shows the complete outcome.
 */
static void put_end(struct run_text *text, const json_t *event, int64_t time_ms,
                    struct buf *out)
{
    const char *state = json_get_str(event, "state", "?");
    const char *reason = json_get_str(event, "reason", NULL);
    bool is_completed = strcmp(state, "completed") == 0;

    put_verdicts(event, out);
    if (text->can_follow_up && text->n_nodes >= FOLLOW_UP_NODES_MIN &&
        follow_up_reason(json_object_get(event, "verdicts")))
        buf_printf(out, "# find the slow node: %s/follow_up -H 'Accept: text/plain'\n",
                   text->post);
    text->has_ended = true;
    buf_printf(out, "%s: ", state);
    if (is_completed)
        put_count(text, time_ms, out);
    if (is_completed && reason)
        buf_append_str(out, " (");
    if (reason || !is_completed)
        put_in_line(out, reason ? reason : "no reason given");
    if (is_completed && reason)
        buf_append_str(out, ")");
    put_results(event, out);
    buf_append_str(out, "\n");
}

static void take_state(struct run_text *text, const json_t *event, int64_t time_ms,
                       struct buf *out)
{
    const char *state = json_get_str(event, "state", "?");
    const char *reason = json_get_str(event, "reason", NULL);
    char words[1024];

    if (strcmp(state, "rendezvous") == 0 && text->started_ms == 0)
        text->started_ms = time_ms;
    if (is_final(state)) {
        run_text_flush(text, out);
        table_end(&text->table, out);
        put_end(text, event, time_ms, &text->end);
        return;
    }
    /* Skip a state that repeats the last one with the same reason. */
    if (strcmp(text->state, state) == 0 &&
        strncmp(text->reason, reason ? reason : "", sizeof(text->reason) - 1) == 0)
        return;
    snprintf(text->state, sizeof(text->state), "%s", state);
    snprintf(text->reason, sizeof(text->reason), "%s", reason ? reason : "");
    snprintf(words, sizeof(words), "%s%s%s", state, reason ? ": " : "",
             reason ? reason : "");
    for (char *p = words; *p && *p != ':'; p++)
        if (*p == '_')
            *p = ' ';
    put_comment(out, words);
}

/* List the communicators if there are several. The last column of the table is the
 * group's number. */
static void put_groups(const json_t *groups, struct buf *out)
{
    size_t n = json_array_size(groups);

    for (size_t i = 0; i < n && i < GROUPS_NAMED_MAX; i++) {
        const json_t *ranks = json_array_get(groups, i);
        size_t count = json_array_size(ranks);

        buf_printf(out, "# group %zu: rank%s", i, count == 1 ? "" : "s");
        for (size_t k = 0; k < count && k < RANKS_NAMED_MAX; k++)
            buf_printf(out, " %lld",
                       (long long)json_integer_value(json_array_get(ranks, k)));
        if (count > RANKS_NAMED_MAX)
            buf_printf(out, " and %zu more", count - RANKS_NAMED_MAX);
        buf_append_str(out, "\n");
    }
    if (n > GROUPS_NAMED_MAX)
        buf_printf(out, "# and %zu more groups\n", n - GROUPS_NAMED_MAX);
    if (n > 0)
        buf_append_str(out, "# the last column is the group\n");
}

/* List the connections whose failure ended a case: "# no path: a to b ...". */
static void put_ways(const json_t *verdict, struct buf *out)
{
    const json_t *ways = json_object_get(json_object_get(verdict, "evidence"), "ways");
    size_t n = json_array_size(ways);

    if (n == 0)
        return;
    put_verdict(verdict, out);
    for (size_t i = 0; i < n && i < WAYS_NAMED_MAX; i++)
        put_line(out,
                 "no path: {from} to {to} at {address}, [{via}|?] to [{interface}|?]: "
                 "{reason}",
                 json_array_get(ways, i), NULL);
    if (n > WAYS_NAMED_MAX)
        buf_printf(out, "# and %zu more paths\n", n - WAYS_NAMED_MAX);
}

static void take_placed(struct run_text *text, const json_t *event, struct buf *out)
{
    const json_t *nodes = json_object_get(event, "nodes");
    size_t count = json_array_size(nodes);
    int64_t world_size = json_get_int(event, "world_size", 0);

    text->world_size = world_size > 0 ? (size_t)world_size : 0;
    text->rows_total = json_get_int(event, "rows_total", 0);
    text->n_nodes = count;
    free(text->has_joined);
    text->has_joined =
        memory_zeroed(text->world_size + 1, sizeof(*text->has_joined), "a run's text");
    text->joined = text->joined_shown = 0;
    buf_printf(out, "# placed: %s, %zu rank%s on ", json_get_str(event, "backend", "?"),
               text->world_size, text->world_size == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < NODES_NAMED_MAX; i++)
        buf_printf(out, "%s%s", i ? ", " : "",
                   json_get_str(json_array_get(nodes, i), "name", "?"));
    if (count > NODES_NAMED_MAX)
        buf_printf(out, " and %zu more", count - NODES_NAMED_MAX);
    buf_append_str(out, "\n");
    put_groups(json_object_get(event, "groups"), out);
    put_verdicts(event, out);
}

static const char *bytes_text(int64_t bytes, char text[UNITS_TEXT_MAX])
{
    return units_format_human(bytes > 0 ? (uint64_t)bytes : 0, text);
}

static void keep_most(int64_t *most, int64_t value)
{
    *most = value > *most ? value : *most;
}

static void note_most(struct run_text *text, const json_t *own)
{
    const json_t *memory = json_object_get(own, "gpu_memory");
    double init_s = json_get_num(own, "init_s", -1.0);

    text->most.init_s = init_s > text->most.init_s ? init_s : text->most.init_s;
    keep_most(&text->most.init_bytes, json_get_int(memory, "init_bytes", -1));
    keep_most(&text->most.buffer_bytes, json_get_int(memory, "buffer_bytes", -1));
    keep_most(&text->most.end_bytes, json_get_int(memory, "end_bytes", -1));
}

/* Append the time to form the communicator, and the maximum memory use, which nccl-tests
 * prints with -M. */
static void put_most(struct run_text *text, struct buf *out)
{
    char init[UNITS_TEXT_MAX], buffers[UNITS_TEXT_MAX], end[UNITS_TEXT_MAX];

    if (text->most.end_bytes >= 0)
        buf_printf(out,
                   "# maximum over ranks: communicator formed in %.3f s; GPU memory: %s "
                   "for the communicator, %s for buffers, %s at the end\n",
                   text->most.init_s > 0.0 ? text->most.init_s : 0.0,
                   bytes_text(text->most.init_bytes, init),
                   bytes_text(text->most.buffer_bytes, buffers),
                   bytes_text(text->most.end_bytes, end));
    forget_most(text);
}

static void put_case(const json_t *event, struct buf *out)
{
    char env[300];
    json_t *more =
        json_pack("{s:s, s:b}", "env", run_matrix_case_text(event, env, sizeof(env)),
                  "is_again", json_get_int(event, "attempt", 1) > 1);

    put_line(out, "case {case}{env}[{is_again?}, tried again]: {state}[: {reason}]", more,
             event);
    json_decref(more);
}

static void take_case(struct run_text *text, const json_t *event, struct buf *out)
{
    const char *state = json_get_str(event, "state", "?");
    int64_t case_no = json_get_int(event, "case", 0);
    int64_t attempt = json_get_int(event, "attempt", 1);

    if (case_no != text->case_no || attempt != text->attempt) {
        text->case_no = case_no;
        text->attempt = attempt;
        text->joined = text->joined_shown = 0;
        conditions_text_reset(&text->conditions);
        if (text->has_joined)
            memset(text->has_joined, 0, text->world_size * sizeof(*text->has_joined));
    }
    if (strcmp(state, "completed") == 0) {
        table_flush(&text->table, out);
        put_most(text, out);
    }
    if (strcmp(state, "running") == 0)
        conditions_text_begin(&text->conditions, out);
    else if (is_final(state))
        conditions_text_end(&text->conditions, out);
    transport_text(json_object_get(event, "transports"), out);
    put_ways(json_object_get(json_object_get(event, "blamed"), "verdict"), out);
    /* If the run has only one case, the line about the run's state is enough. */
    if (text->n_cases > 1 || attempt > 1)
        put_case(event, out);
}

/* Report a case and its rows when the case ends, because cases run at the same time. The
 * nodes' conditions and memory are available in the run's document. */
static void take_case_of_pattern(struct run_text *text, const json_t *event,
                                 struct buf *out)
{
    if (!is_final(json_get_str(event, "state", "?")))
        return;
    put_case(event, out);
    table_end_case(&text->table, json_get_int(event, "case", 0), out);
}

static void take_failed_rank(const json_t *event, struct buf *out)
{
    put_line(out, "rank {rank} on {node} failed: [{reason}|no reason given]", event,
             NULL);
}

static void note_joined(struct run_text *text, int64_t rank)
{
    if (rank < 0 || (size_t)rank >= text->world_size || text->has_pattern ||
        !text->has_joined || text->has_joined[rank])
        return;
    text->has_joined[rank] = true;
    text->joined++;
}

/* Record the progress of a node's ranks. */
static void take_ranks(struct run_text *text, const json_t *event, int64_t time_ms,
                       struct buf *out)
{
    const json_t *ranks = json_object_get(event, "ranks"),
                 *each = json_object_get(event, "each"), *item;
    size_t i, before = text->joined;

    json_array_foreach (each, i, item)
        note_most(text, item);
    if (strcmp(json_get_str(event, "state", ""), "spawned") == 0)
        return;
    json_array_foreach (ranks, i, item)
        note_joined(text, json_integer_value(item));
    if (before == 0)
        text->joined_shown_ms = time_ms;
    if (text->joined > before &&
        (text->joined == text->world_size ||
         time_ms - text->joined_shown_ms >= JOINED_INTERVAL_MS)) {
        text->joined_shown_ms = time_ms;
        run_text_flush(text, out);
    }
}

/* Return true if the row's case sets the same variables as the first case. */
static bool is_first_combination(const struct run_text *text, const json_t *row)
{
    int64_t number = json_get_int(row, "case", 0);
    const json_t *cases = text->table.cases;
    json_t *env = json_object_get(json_array_get(cases, 0), "env");
    json_t *own = json_object_get(json_array_get(cases, (size_t)number), "env");

    return !text->has_pattern && (number == 0 || env == own || json_equal(env, own));
}

static void take_figures(struct run_text *text, const json_t *event)
{
    struct certainty certainty = result_certainty(event);

    noise_add(&text->noise, &certainty, text->noise_limit);
    if (is_first_combination(text, event))
        headline_add(&text->headline, event, json_get_int(event, "size", 0),
                     json_get_num(event, "busbw_gbs", 0.0), &certainty);
}

static void take_result(struct run_text *text, json_t *event, struct buf *out)
{
    int64_t wrong = json_get_int(event, "wrong", 0);

    if (json_object_get(event, "metric"))
        text->figures++;
    else
        text->rows++;
    if (json_object_get(event, "skipped"))
        text->skipped++;
    else if (!json_object_get(event, "metric"))
        take_figures(text, event);
    if (table_unreal(event))
        text->unreal = table_unreal(event);
    if (wrong > 0)
        text->wrong += (uint64_t)wrong;
    table_row(&text->table, event, out);
}

#define MESSAGE "[rank {rank}[ on {node}]: |{node}: ]{text}"

static void take_message(const json_t *event, struct buf *out)
{
    const char *level = json_get_str(event, "level", "info");

    put_line(out,
             strcmp(level, "error") == 0  ? "error: " MESSAGE
             : strcmp(level, "warn") == 0 ? "warning: " MESSAGE
                                          : MESSAGE,
             event, NULL);
}

/* Append the new and the old value of a label or of the notes. */
static void put_change(struct buf *out, const char *name, const json_t *before,
                       const json_t *after)
{
    const char *old = json_string_value(before), *new = json_string_value(after);

    if (new &&*new)
        buf_printf(out, "; %s=%s", name, new);
    else
        buf_printf(out, "; %s removed", name);
    if (old && *old)
        buf_printf(out, " (was %s)", old);
}

/* Append a line about an edit: "edited by ann from 10.0.0.7; label gpu=h100". */
static void take_edit(const json_t *event, struct buf *out)
{
    const json_t *before = json_object_get(event, "before");
    const json_t *after = json_object_get(event, "after");
    const json_t *notes = json_object_get(after, "notes");
    const json_t *old = json_object_get(before, "labels");
    const char *by = json_get_str(event, "by", NULL), *key;
    json_t *value;
    struct buf words;

    buf_init(&words, END_MAX);
    buf_printf(&words, "edited%s%s from %s", by ? " by " : "", by ? by : "",
               json_get_str(event, "peer", "?"));
    json_object_foreach (json_object_get(after, "labels"), key, value) {
        char name[256];

        snprintf(name, sizeof(name), "label %s", key);
        put_change(&words, name, json_object_get(old, key), value);
    }
    if (notes)
        put_change(&words, "notes", json_object_get(before, "notes"), notes);
    put_comment(out, words.data);
    buf_release(&words);
}

static void take_event(struct run_text *text, int64_t time_ms, const char *type,
                       json_t *event, struct buf *out)
{
    if (strcmp(type, "ranks") == 0) {
        take_ranks(text, event, time_ms, out);
        return;
    }
    if (strcmp(type, "state") == 0)
        take_state(text, event, time_ms, out);
    else if (strcmp(type, "rank") == 0)
        take_failed_rank(event, out);
    else if (strcmp(type, "placed") == 0)
        take_placed(text, event, out);
    else if (strcmp(type, "plan") == 0)
        text->rows_total = json_get_int(event, "rows_total", text->rows_total);
    else if (strcmp(type, "case") == 0 && text->has_pattern)
        take_case_of_pattern(text, event, out);
    else if (strcmp(type, "case") == 0)
        take_case(text, event, out);
    else if (strcmp(type, "result") == 0)
        take_result(text, event, out);
    else if (strcmp(type, "message") == 0)
        take_message(event, out);
    else if (strcmp(type, "edit") == 0)
        take_edit(event, out);
    else if (strcmp(type, "conditions") == 0 && !text->has_pattern)
        conditions_text_take(&text->conditions, event);
}

void run_text_event(struct run_text *text, int64_t time_ms, const char *type,
                    json_t *body, struct buf *out)
{
    json_t *shown;

    if (text->has_ended && strcmp(type, "edit") != 0)
        return;
    /* The table code cleans the texts of result rows. */
    shown =
        strcmp(type, "result") == 0 ? json_incref(body) : clean_text_shown(body, true);
    take_event(text, time_ms, type, shown, out);
    json_decref(shown);
}

void run_text_end(struct run_text *text, struct buf *out)
{
    run_text_flush(text, out);
    buf_append(out, text->end.data, text->end.len);
    buf_clear(&text->end);
}

void run_text_stop(struct run_text *text, struct buf *out)
{
    if (text->has_ended) {
        run_text_end(text, out);
        return;
    }
    run_text_flush(text, out);
    buf_printf(out,
               "# the server is stopping; the run continues when the server is back: "
               "GET /api/v1/runs/%s/events?format=text\n",
               text->id);
}

void run_text_alive(struct run_text *text, int64_t now_ms, struct buf *out)
{
    uint64_t all = text->rows + text->figures;

    if (text->has_ended)
        return;
    run_text_flush(text, out);
    if (text->started_ms > 0 && text->is_program)
        buf_printf(out, "# %llu figures after %.0f s\n",
                   (unsigned long long)text->figures,
                   (double)(now_ms - text->started_ms) / 1e3);
    else if (text->started_ms > 0)
        buf_printf(out, "# %llu of %lld rows after %.0f s\n", (unsigned long long)all,
                   (long long)text->rows_total,
                   (double)(now_ms - text->started_ms) / 1e3);
    else
        buf_printf(out, "# still %s\n", text->state[0] ? text->state : "queued");
}
