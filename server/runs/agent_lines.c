/* SPDX-License-Identifier: Apache-2.0 */
/* agent_lines.c - parses the lines that agents send and applies them to runs */
#include "server/runs/agent_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/result/conditions.h"
#include "server/analysis/carried.h"
#include "server/analysis/hang.h"
#include "server/nodes/node.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"
#include "server/store/store.h"
#include "server/store/store_artifacts.h"

/* Number of output lines that are quoted when a program fails. */
#define PROGRAM_LINES 4

#define REASON_MAX 1200
#define WAY_MAX 120   /* limit for each text about an unreachable path, bytes */
#define STACK_MAX 400 /* limit for a stack quoted in a reason, bytes */
#define NODE_RANKS_MAX 4096
#define ARTIFACT_MAX ((size_t)512 * 1024) /* agents reject larger files too */

static const struct run *run_of(const struct agent_line *line)
{
    return run_log_run(line->log);
}

/* Limit the agent's text, since the events of many ranks contain it. */
static void set_reason(struct agent_line *line, const char *reason)
{
    line->reason = strndup(reason, (size_t)utf8_fit(reason, REASON_MAX));
    if (!line->reason)
        memory_out("an agent's line");
    line->report.reason = line->reason;
}

/* Return a text truncated to `most` bytes. */
static json_t *cut_text(const char *text, int most)
{
    return json_stringn(text, (size_t)utf8_fit(text, most));
}

/* Set the type and body of the resulting event. The body is also the report's body. */
static void set_event(struct agent_line *line, const char *type, json_t *body)
{
    line->type = type;
    line->report.body = body;
}

/* ---- Rank states ---- */

/* Set the event `rank` for a failure. */
static void fail(struct agent_line *line, const char *reason)
{
    line->is_of_rank = true;
    line->report.state = RANK_FAILED;
    set_reason(line, reason);
    set_event(line, "rank",
              json_pack("{s:i, s:i, s:i, s:s, s:s, s:s}", "case", line->case_no,
                        "attempt", line->attempt, "rank", line->report.rank, "node",
                        line->report.node, "state", rank_state_name(RANK_FAILED),
                        "reason", line->reason));
}

static void copy_members(json_t *to, const json_t *from, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++)
        if (json_object_get(from, keys[i]))
            json_object_set(to, keys[i], json_object_get(from, keys[i]));
}

/* Add the values that can differ between ranks of a node. */
static void add_own(json_t *body, int rank, const json_t *json)
{
    static const char *const keys[] = {"init_s", "gpu_memory", "registration", "ways",
                                       NULL};
    json_t *own = json_pack("{s:i}", "rank", rank);

    copy_members(own, json, keys);
    if (json_object_size(own) > 1)
        json_object_set_new(body, "each", json_pack("[O]", own));
    json_decref(own);
}

/* Set the event `ranks`: this rank, and possibly other ranks on its node, reached a
 * state. */
static void reach(struct agent_line *line, enum rank_state state, const json_t *json)
{
    static const char *const keys[] = {"seconds", "transport", NULL};
    json_t *body = json_pack("{s:i, s:i, s:s, s:s, s:[i]}", "case", line->case_no,
                             "attempt", line->attempt, "node", line->report.node, "state",
                             rank_state_name(state), "ranks", line->report.rank);

    line->is_of_rank = true;
    line->report.state = state;
    copy_members(body, json, keys);
    add_own(body, line->report.rank, json);
    set_event(line, "ranks", body);
}

static bool is_reached(const struct agent_line *line)
{
    return line->type && strcmp(line->type, "ranks") == 0;
}

static void extend(json_t *to, const json_t *from, const char *key)
{
    if (!json_object_get(to, key))
        json_object_set_new(to, key, json_array());
    json_array_extend(json_object_get(to, key), json_object_get(from, key));
}

/* All ranks of an event share one `transport`. A rank with a different transport gets an
 * entry in `each`. */
static void keep_transport(const json_t *first, json_t *body, int rank)
{
    json_t *transport = json_object_get(body, "transport");

    if (!transport || json_equal(transport, json_object_get(first, "transport")))
        return;
    if (!json_object_get(body, "each"))
        json_object_set_new(body, "each", json_pack("[{s:i}]", "rank", rank));
    json_object_set(json_array_get(json_object_get(body, "each"), 0), "transport",
                    transport);
}

bool agent_line_join(struct agent_line *first, struct agent_line *line)
{
    json_t *to = first->report.body, *from = line->report.body;
    double seconds = json_get_num(from, "seconds", 0);

    if (!is_reached(first) || !is_reached(line) || first->log != line->log ||
        first->case_no != line->case_no || first->attempt != line->attempt ||
        first->report.state != line->report.state)
        return false;
    keep_transport(to, from, line->report.rank);
    extend(to, from, "ranks");
    if (json_object_get(from, "each"))
        extend(to, from, "each");
    if (seconds > json_get_num(to, "seconds", 0))
        json_object_set_new(to, "seconds", json_real(seconds));
    line->type = NULL;
    return true;
}

static void parse_spawn(struct agent_line *line, json_t *json)
{
    (void)json;
    reach(line, RANK_SPAWNED, NULL);
}

static void parse_phase(struct agent_line *line, json_t *json)
{
    int state = rank_state_lookup(json_get_str(json, "phase", NULL));

    if (state >= RANK_JOINED && state <= RANK_RUNNING)
        reach(line, (enum rank_state)state, json);
    else
        line->kind = NULL;
}

static void parse_done(struct agent_line *line, json_t *json)
{
    const json_t *why = json_object_get(json, "error");
    char reason[600];

    if (json_get_bool(json, "ok", false)) {
        reach(line, RANK_DONE, json);
        return;
    }
    snprintf(reason, sizeof(reason), "%s: %s", json_get_str(why, "code", "error"),
             json_get_str(why, "text", "no reason given"));
    if (strcmp(json_get_str(why, "code", ""), "peer_lost") == 0)
        line->report.peer = (int)json_get_int(why, "peer", -1);
    fail(line, reason);
}

static bool is_program(const struct agent_line *line)
{
    return run_of(line)->spec->program.name != NULL;
}

/* Quote the last line of a worker, which names the error. Quote several lines of a
 * program, since a traceback is longer. */
static void put_last_lines(const json_t *tail, size_t most, char *out, size_t size)
{
    size_t lines = json_array_size(tail), n = 0;

    for (size_t i = lines > most ? lines - most : 0; i < lines && n < size; i++) {
        const char *text = json_string_value(json_array_get(tail, i));

        if (text && *text)
            n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? " | " : "",
                                  utf8_fit(text, 300), text);
    }
    utf8_trim(out);
}

/* Write a sentence such as "worker killed by signal 9 (Killed); its last line: ...". */
static void describe_exit(const json_t *line, bool is_program, char *out, size_t size)
{
    const char *what = is_program ? "program" : "worker";
    const char *warning = json_get_str(line, "warning", NULL);
    int64_t signal = json_get_int(line, "signal", 0);
    char last[1000] = "";
    int n;

    if (signal > 0)
        n = snprintf(out, size, "%s killed by signal %d (%s)", what, (int)signal,
                     strsignal((int)signal));
    else
        n = snprintf(out, size, "%s exited %d", what,
                     (int)json_get_int(line, "code", -1));
    put_last_lines(json_object_get(line, "tail"), is_program ? PROGRAM_LINES : 1, last,
                   sizeof(last));
    if (*last && n > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, "; its last line%s: %s",
                      is_program ? "s" : "", last);
    if (warning && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; NCCL warned: %.300s", warning);
}

static void parse_exit(struct agent_line *line, json_t *json)
{
    bool is_well = !json_is_integer(json_object_get(json, "signal")) &&
                   json_get_int(json, "code", -1) == 0;
    char reason[REASON_MAX];

    if (is_well) {
        line->report.state = RANK_DONE;
        return;
    }
    line->is_exit = true;
    describe_exit(json, is_program(line), reason, sizeof(reason));
    fail(line, reason);
}

static void parse_refused(struct agent_line *line, json_t *json)
{
    set_reason(line, json_get_str(json, "reason", "refused to start"));
    set_event(line, "message",
              json_pack("{s:s, s:s, s:i, s:s}", "level", "error", "text", line->reason,
                        "case", line->case_no, "node", line->report.node));
}

static void parse_gone(struct agent_line *line, json_t *json)
{
    const char *reason = json_get_str(json, "reason", NULL);

    if (reason)
        set_reason(line, reason);
}

/* ---- Results and output ---- */

static void parse_result(struct agent_line *line, json_t *json)
{
    static const char *const ours[] = {"type", "run", "seq", "time_ms", "rank"};
    json_t *body = json_copy(json);

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        json_object_del(body, ours[i]);
    set_event(line, "result", body);
}

/* Parse a program's metric. The metric becomes a result, like a measured row. */
static void parse_metric(struct agent_line *line, json_t *json)
{
    static const char *const keys[] = {"metric", "value",   "unit",   "higher_is_better",
                                       "rank",   "skipped", "labels", NULL};
    json_t *body;

    if (!json_is_string(json_object_get(json, "metric")) ||
        !(json_is_number(json_object_get(json, "value")) ||
          json_is_string(json_object_get(json, "skipped")))) {
        line->kind = NULL;
        return;
    }
    body = json_pack("{s:i, s:i}", "case", line->case_no, "attempt", line->attempt);
    copy_members(body, json, keys);
    set_event(line, "result", body);
}

static void write_log(const struct agent_line *line, const json_t *json,
                      const char *stream)
{
    const char *text = json_get_str(json, "text", "");

    store_write_log(line->write, run_of(line)->id, json_get_int(json, "time_ms", 0),
                    line->case_no, line->report.rank, stream, text, strlen(text));
}

/* Output counts as progress: nothing else is known about a program. */
static void parse_output(struct agent_line *line, json_t *json)
{
    write_log(line, json, json_get_str(json, "stream", ""));
    if (!is_program(line))
        line->kind = NULL;
}

static void parse_log(struct agent_line *line, json_t *json)
{
    const char *level = json_get_str(json, "level", "info");
    json_t *body;

    write_log(line, json, "worker");
    if (strcmp(level, "info") == 0)
        return;
    body = json_pack("{s:s, s:s, s:i, s:s}", "level", level, "text",
                     json_get_str(json, "text", ""), "case", line->case_no, "node",
                     line->report.node);
    if (line->report.rank >= 0)
        json_object_set_new(body, "rank", json_integer(line->report.rank));
    set_event(line, "message", body);
}

static void parse_progress(struct agent_line *line, json_t *json)
{
    line->report.body = json_incref(json);
}

/* ---- Other reports ---- */

/* Copy the given texts from a line, each truncated. */
static json_t *cut_members(const json_t *json, const char *const *keys, int most)
{
    json_t *out = json_object();

    for (size_t i = 0; keys[i]; i++) {
        const char *text = json_get_str(json, keys[i], NULL);

        if (text)
            json_object_set_new(out, keys[i], cut_text(text, most));
    }
    return out;
}

static void parse_stack(struct agent_line *line, json_t *json)
{
    static const char *const keys[] = {"text", "state", "kernel", "line", NULL};

    line->report.body = cut_members(json, keys, STACK_MAX);
}

/* Parse a report that this rank cannot reach another rank's address. */
static void parse_unreached(struct agent_line *line, json_t *json)
{
    static const char *const keys[] = {"over", "address", "interface",
                                       "via",  "reason",  NULL};
    json_t *body =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i}", "over", "", "address", "",
                  "interface", "", "via", "", "reason", "", "rank", line->report.rank,
                  "peer", (int)json_get_int(json, "peer", -1));

    json_object_update_new(body, cut_members(json, keys, WAY_MAX));
    line->report.body = body;
}

/* Parse a rank's NCCL log, which becomes part of the event unchanged. */
static void parse_nccl(struct agent_line *line, json_t *json)
{
    json_t *log = json_object_get(json, "log");

    if (json_is_object(log))
        set_event(line, "nccl",
                  json_pack("{s:i, s:i, s:i, s:s, s:O}", "case", line->case_no, "attempt",
                            line->attempt, "rank", line->report.rank, "node",
                            line->report.node, "log", log));
    else
        line->kind = NULL;
}

/* Copy the CPU lists, at most one for each possible rank on a node. An invalid list
 * becomes "?". */
static json_t *copy_cpus(const json_t *cpus)
{
    json_t *copy = json_array();

    for (size_t i = 0; i < json_array_size(cpus) && i < NODE_RANKS_MAX; i++) {
        const char *list = json_string_value(json_array_get(cpus, i));

        json_array_append_new(copy,
                              json_string(list && cpu_list_is_valid(list) ? list : "?"));
    }
    return copy;
}

/* Return the node's rank binding, {"to", "cpus"} or {"to", "reason"}; NULL if not
 * reported. */
static json_t *copy_bind(const json_t *bind)
{
    enum run_bind to = run_bind_lookup(json_get_str(bind, "to", NULL));
    const char *reason = json_get_str(bind, "reason", "no reason given");

    if (!bind || to == BIND_AUTO)
        return NULL;
    if (to == BIND_NONE)
        return json_pack("{s:s, s:o}", "to", run_bind_name(to), "reason",
                         json_stringn(reason, (size_t)utf8_fit(reason, STACK_MAX)));
    return json_pack("{s:s, s:o}", "to", run_bind_name(to), "cpus",
                     copy_cpus(json_object_get(bind, "cpus")));
}

/* Parse the conditions under which the node runs its ranks, and add notes about unusual
 * values. */
static void parse_conditions(struct agent_line *line, json_t *json)
{
    json_t *bind = copy_bind(json_object_get(json, "bind"));
    json_t *ports = carried_ports(json_object_get(json, "ports"));
    json_t *body =
        json_pack("{s:i, s:i, s:s, s:o*, s:o*}", "case", line->case_no, "attempt",
                  line->attempt, "node", line->report.node, "bind", bind, "ports", ports);
    double values[CONDITION_COUNT];

    if (ports && !live_case_tells_ports(line->live, line->report.node))
        json_array_clear(ports);
    conditions_read(json, values);
    json_object_update_new(body, conditions_json(values));
    json_object_set_new(body, "notes", conditions_notes(values));
    set_event(line, "conditions", body);
}

/* Parse a file that NCCL wrote about the node. The event contains the digest under which
 * the file is stored. */
static void parse_artifact(struct agent_line *line, json_t *json)
{
    static const char *const names[] = {"topology.xml", "graph.xml"};
    const char *name = json_get_str(json, "name", "");
    const char *text = json_get_str(json, "text", "");
    char digest[DIGEST_TEXT_SIZE];
    struct store_artifact item = {.run = run_of(line)->id,
                                  .node = line->report.node,
                                  .digest = digest,
                                  .case_no = line->case_no,
                                  .text = text};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            item.name = names[i];
    if (!item.name || strlen(text) > ARTIFACT_MAX)
        return;
    digest_text(text, digest);
    store_write_artifact(line->write, &item);
    set_event(line, "artifact",
              json_pack("{s:i, s:i, s:s, s:s, s:I, s:s}", "case", line->case_no,
                        "attempt", line->attempt, "node", line->report.node, "name", name,
                        "bytes", (json_int_t)strlen(text), "digest", digest));
}

/* ---- All kinds ---- */

enum line_flag {
    NEEDS_RANK = 1,
    OF_NODE =
        2, /* the line is about the sending node, and valid even after the run's end */
    IS_PASSING = 4, /* the line is transient and never stored */
};

/* Kinds of lines, with their names from docs/development/agent-protocol.md. `parse`
 * builds the event, and `then` applies the line to a case under way. run_fold() applies
 * the event to the run. */
static const struct line_kind {
    const char *name;
    void (*parse)(struct agent_line *line, json_t *json);
    /* applies the line to its case; NULL: no effect on the case */
    case_report_taker *then;
    unsigned flags;
} kinds[] = {
    {"spawn", parse_spawn, live_case_rank, NEEDS_RANK},
    {"phase", parse_phase, live_case_rank, NEEDS_RANK},
    {"done", parse_done, live_case_rank, NEEDS_RANK},
    {"exit", parse_exit, live_case_exited, NEEDS_RANK},
    {"result", parse_result, live_case_result, NEEDS_RANK},
    {"metric", parse_metric, live_case_result, NEEDS_RANK},
    {"output", parse_output, live_case_output, 0},
    {"log", parse_log, NULL, 0},
    {"refused", parse_refused, live_case_refused, 0},
    {"gone", parse_gone, live_case_gone, OF_NODE},
    {"progress", parse_progress, live_case_progress, NEEDS_RANK | IS_PASSING},
    {"nccl", parse_nccl, live_case_nccl, NEEDS_RANK},
    {"stack", parse_stack, live_case_stack, NEEDS_RANK},
    {"unreached", parse_unreached, live_case_unreached, NEEDS_RANK},
    {"conditions", parse_conditions, NULL, 0},
    {"artifact", parse_artifact, NULL, 0},
};

static const struct line_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

/* Any client with an agent's token can post lines, so a node may report only for
 * itself. */
static int check_speaker(const struct agent_line *line, struct error *err)
{
    const char *node = line->report.node, *run = run_of(line)->id;
    const struct run_nodes *on = live_case_nodes(line->live);
    int rank = line->report.rank;
    const struct run_node *holder = rank < 0 ? NULL : run_nodes_of_rank(on, rank);

    if (holder && strcmp(holder->name, node) == 0)
        return 0;
    if (!run_nodes_find(on, node))
        return error_set(err, ERROR_INVALID, "%s takes no part in case %d of run %s",
                         node, line->case_no, run);
    if (!(line->kind->flags & NEEDS_RANK) && rank < 0)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s cannot report for rank %d of run %s: the rank runs on %s", node,
                     rank, run, holder ? holder->name : "no node");
}

int agent_line_parse(const struct cases *cases, const struct node *node, json_t *json,
                     struct store_write *write, struct agent_line *line,
                     struct error *err)
{
    const struct line_kind *kind = kind_of(json_get_str(json, "type", ""));
    bool is_of_node = kind && kind->flags & OF_NODE;

    *line = (struct agent_line){
        .write = write,
        .case_no = (int)json_get_int(json, "case", -1),
        .attempt = (int)json_get_int(json, "attempt", -1),
        .report = {.node = node->name,
                   .rank = (int)json_get_int(json, "rank", -1),
                   .peer = -1},
    };
    snprintf(line->run, sizeof(line->run), "%s", json_get_str(json, "run", ""));
    if (is_of_node)
        line->kind = kind;
    line->live = cases_find(cases, line->run, line->case_no, line->attempt);
    if (!line->live)
        return 0;
    line->log = live_case_log(line->live);
    line->kind = kind;
    if (!kind)
        return 0;
    if (!is_of_node && check_speaker(line, err))
        return -1;
    kind->parse(line, json);
    return 0;
}

/* Return true if an earlier line reported the rank's end. */
static bool is_known_end(const struct agent_line *line)
{
    struct live_case *live = line->live;
    bool is_end = line->is_of_rank && line->report.state >= RANK_DONE;
    bool is_known =
        is_end && line->is_exit && live_case_reported(live, line->report.rank);

    if (is_end)
        live_case_note_reported(live, line->report.rank);
    return is_known;
}

void agent_line_fold(struct agent_line *line)
{
    if (is_known_end(line)) {
        line->kind = NULL;
        line->type = NULL;
    }
    if (line->type)
        run_log_add(line->log, line->write, line->time_ms, line->type, line->report.body);
}

bool agent_line_perform(struct agent_line *line, struct node *node)
{
    if (!line->kind)
        return false;
    if (line->live && line->kind->then)
        line->kind->then(line->live, &line->report);
    return line->kind->flags & OF_NODE &&
           node_vacate(node, line->run, line->case_no, line->attempt);
}

bool agent_line_is_passing(const struct agent_line *line)
{
    return line->kind && line->kind->flags & IS_PASSING;
}

void agent_line_release(struct agent_line *line)
{
    free(line->reason);
    json_decref(line->report.body);
}
