/* agent_events.c - what an agent's event lines mean to a run */
#include "server/runs/agent_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/result/conditions.h"
#include "server/analysis/carried.h"
#include "server/analysis/hang.h"
#include "server/analysis/memory_ceiling.h"
#include "server/nodes/node.h"
#include "server/runs/active_run.h"
#include "server/runs/case_transport.h"
#include "server/runs/emit.h"
#include "server/runs/live_case.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"
#include "server/store/store_artifacts.h"

/* Of the output of a program that failed. */
#define PROGRAM_LINES 4

#define REASON_MAX 1200
#define RAS_MAX 2000  /* of its text that a verdict keeps, bytes */
#define WAY_MAX 120   /* of each word on a way that does not go */
#define STACK_MAX 400 /* of it that a reason quotes, bytes */
#define NODE_RANKS_MAX 4096
#define ARTIFACT_MAX ((size_t)512 * 1024) /* as agents send at most */

typedef int line_parser(struct action *action, const struct node *node, json_t *line,
                        struct store_write *write);

static struct live_case *live_of(const struct action *action)
{
    struct live_case *live =
        action->active ? active_run_live(action->active, action->case_no) : NULL;

    return live && live_case_is(live, action->case_no, action->attempt) ? live : NULL;
}

/* At most so many bytes of what an agent says: it stands in the events of many ranks. */
static char *copy_reason(const char *reason)
{
    return strndup(reason, (size_t)utf8_fit(reason, REASON_MAX));
}

/* The event `rank` of a failure. */
static int make_failed(struct action *action, const struct node *node, const char *reason)
{
    action->kind = ACTION_RANK;
    action->state = RANK_FAILED;
    action->type = "rank";
    action->reason = copy_reason(reason);
    if (!action->reason)
        return -1;
    action->body =
        json_pack("{s:i, s:i, s:i, s:s, s:s, s:s}", "case", action->case_no, "attempt",
                  action->attempt, "rank", action->rank, "node", node->name, "state",
                  rank_state_name(RANK_FAILED), "reason", action->reason);
    return action->body ? 0 : -1;
}

/* What a rank says of itself that others on its node may say otherwise. */
static void add_own(json_t *body, int rank, const json_t *line)
{
    static const char *const keys[] = {"init_s", "gpu_memory", "registration", "ways"};
    json_t *own = json_pack("{s:i}", "rank", rank);

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *value = json_object_get(line, keys[i]);

        if (value)
            json_object_set_new(own, keys[i], json_deep_copy(value));
    }
    if (json_object_size(own) > 1)
        json_object_set_new(body, "each", json_pack("[O]", own));
    json_decref(own);
}

/* The event `ranks`: this one has come so far, and perhaps others of its node. */
static int make_reached(struct action *action, const struct node *node,
                        enum rank_state state, const json_t *line)
{
    static const char *const keys[] = {"seconds", "transport"};

    action->kind = ACTION_RANK;
    action->state = state;
    action->type = "ranks";
    action->body = json_pack("{s:i, s:i, s:s, s:s, s:[i]}", "case", action->case_no,
                             "attempt", action->attempt, "node", node->name, "state",
                             rank_state_name(state), "ranks", action->rank);
    if (!action->body)
        return -1;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *value = json_object_get(line, keys[i]);

        if (value)
            json_object_set_new(action->body, keys[i], json_deep_copy(value));
    }
    add_own(action->body, action->rank, line);
    return 0;
}

static bool is_reached(const struct action *action)
{
    return action->type && strcmp(action->type, "ranks") == 0;
}

static void extend(json_t *to, const json_t *from, const char *key)
{
    if (!json_object_get(to, key))
        json_object_set_new(to, key, json_array());
    json_array_extend(json_object_get(to, key), json_object_get(from, key));
}

bool action_join(struct action *first, struct action *action)
{
    double seconds = json_get_num(action->body, "seconds", 0);

    if (!is_reached(first) || !is_reached(action) || first->active != action->active ||
        first->case_no != action->case_no || first->attempt != action->attempt ||
        first->state != action->state)
        return false;
    extend(first->body, action->body, "ranks");
    if (json_object_get(action->body, "each"))
        extend(first->body, action->body, "each");
    if (seconds > json_get_num(first->body, "seconds", 0))
        json_object_set_new(first->body, "seconds", json_real(seconds));
    action->type = NULL;
    return true;
}

static int parse_spawn(struct action *action, const struct node *node, json_t *line,
                       struct store_write *write)
{
    (void)line;
    (void)write;
    return make_reached(action, node, RANK_SPAWNED, NULL);
}

static int parse_phase(struct action *action, const struct node *node, json_t *line,
                       struct store_write *write)
{
    int state = rank_state_lookup(json_get_str(line, "phase", NULL));

    (void)write;
    if (state < RANK_JOINED || state > RANK_RUNNING)
        return 0;
    return make_reached(action, node, (enum rank_state)state, line);
}

static int parse_done(struct action *action, const struct node *node, json_t *line,
                      struct store_write *write)
{
    const json_t *why = json_object_get(line, "error");
    char reason[600];

    (void)write;
    if (json_get_bool(line, "ok", false))
        return make_reached(action, node, RANK_DONE, line);
    snprintf(reason, sizeof(reason), "%s: %s", json_get_str(why, "code", "error"),
             json_get_str(why, "text", "no reason given"));
    if (strcmp(json_get_str(why, "code", ""), "peer_lost") == 0)
        action->peer = (int)json_get_int(why, "peer", -1);
    return make_failed(action, node, reason);
}

static bool is_program(const struct action *action)
{
    return action->active->run->spec->program.name != NULL;
}

/* A worker's last line says it; a program's traceback needs more of them. */
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

/* "worker killed by signal 9 (Killed); its last line: ..." */
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

static int parse_exit(struct action *action, const struct node *node, json_t *line,
                      struct store_write *write)
{
    bool well = !json_is_integer(json_object_get(line, "signal")) &&
                json_get_int(line, "code", -1) == 0;
    char reason[REASON_MAX];

    (void)write;
    if (well) {
        action->kind = ACTION_EXITED_WELL;
        return 0;
    }
    action->is_exit = true;
    describe_exit(line, is_program(action), reason, sizeof(reason));
    return make_failed(action, node, reason);
}

static const char *node_of_rank(const void *arg, int rank)
{
    const struct run_node *node = rank < 0 ? NULL : run_nodes_of_rank(arg, rank);

    return node ? node->name : NULL;
}

static int parse_result(struct action *action, const struct node *node, json_t *line,
                        struct store_write *write)
{
    static const char *const ours[] = {"type", "run", "seq", "time_ms", "rank"};
    json_t *traffic;

    (void)node;
    (void)write;
    action->kind = ACTION_RESULT;
    action->type = "result";
    action->body = json_copy(line);
    if (!action->body)
        return -1;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        json_object_del(action->body, ours[i]);
    traffic = carried_traffic(line, node_of_rank, &live_of(action)->on);
    if (traffic)
        json_object_set_new(action->body, "traffic", traffic);
    return 0;
}

/* A figure of a program: the run's result as a row is of a measurement. */
static int parse_metric(struct action *action, const struct node *node, json_t *line,
                        struct store_write *write)
{
    static const char *const keys[] = {"metric", "value",   "unit",   "higher_is_better",
                                       "rank",   "skipped", "labels", NULL};
    const char *name = json_get_str(line, "metric", NULL);

    (void)node;
    (void)write;
    if (!name || !(json_is_number(json_object_get(line, "value")) ||
                   json_is_string(json_object_get(line, "skipped"))))
        return 0;
    action->kind = ACTION_RESULT;
    action->type = "result";
    action->body =
        json_pack("{s:i, s:i}", "case", action->case_no, "attempt", action->attempt);
    if (!action->body)
        return -1;
    for (size_t i = 0; keys[i]; i++) {
        json_t *value = json_object_get(line, keys[i]);

        if (value && json_object_set(action->body, keys[i], value))
            return -1;
    }
    return 0;
}

static int parse_output(struct action *action, const struct node *node, json_t *line,
                        struct store_write *write)
{
    const char *text = json_get_str(line, "text", "");

    (void)node;
    if (is_program(action))
        action->kind = ACTION_OUTPUT;
    return store_write_log(
        write, action->active->run->id, json_get_int(line, "time_ms", 0), action->case_no,
        action->rank, json_get_str(line, "stream", ""), text, strlen(text));
}

static int parse_log(struct action *action, const struct node *node, json_t *line,
                     struct store_write *write)
{
    const char *level = json_get_str(line, "level", "info");
    const char *text = json_get_str(line, "text", "");

    if (strcmp(level, "info") != 0) {
        action->kind = ACTION_MESSAGE;
        action->type = "message";
        action->body = json_pack("{s:s, s:s, s:i, s:s}", "level", level, "text", text,
                                 "case", action->case_no, "node", node->name);
        if (!action->body)
            return -1;
        if (action->rank >= 0)
            json_object_set_new(action->body, "rank", json_integer(action->rank));
    }
    return store_write_log(write, action->active->run->id,
                           json_get_int(line, "time_ms", 0), action->case_no,
                           action->rank, "worker", text, strlen(text));
}

static int parse_refused(struct action *action, const struct node *node, json_t *line,
                         struct store_write *write)
{
    const char *reason = json_get_str(line, "reason", "refused to start");

    (void)write;
    action->kind = ACTION_REFUSED;
    action->reason = copy_reason(reason);
    action->type = "message";
    action->body = json_pack("{s:s, s:s, s:i, s:s}", "level", "error", "text",
                             action->reason, "case", action->case_no, "node", node->name);
    return action->reason && action->body ? 0 : -1;
}

static int parse_gone(struct action *action, const struct node *node, json_t *line,
                      struct store_write *write)
{
    const char *reason = json_get_str(line, "reason", NULL);

    (void)node;
    (void)write;
    action->kind = ACTION_GONE;
    action->reason = reason ? copy_reason(reason) : NULL;
    return reason && !action->reason ? -1 : 0;
}

static int parse_stack(struct action *action, const struct node *node, json_t *line,
                       struct store_write *write)
{
    static const char *const keys[] = {"text", "state", "kernel", "line"};

    (void)node;
    (void)write;
    action->kind = ACTION_STACK;
    action->body = json_object();
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = json_get_str(line, keys[i], NULL);

        if (text)
            json_object_set_new(action->body, keys[i],
                                json_stringn(text, (size_t)utf8_fit(text, STACK_MAX)));
    }
    return action->body ? 0 : -1;
}

static json_t *copy_ranks(const json_t *list)
{
    json_t *copy = json_array();

    for (size_t i = 0; i < json_array_size(list) && i < HANG_RAS_MAX; i++)
        json_array_append_new(copy,
                              json_integer(json_integer_value(json_array_get(list, i))));
    return copy;
}

/* What NCCL's RAS said of the case; numbers and lists of ranks, or text. */
static int parse_ras(struct action *action, const struct node *node, json_t *line,
                     struct store_write *write)
{
    const json_t *says = json_object_get(line, "says");
    const char *version = json_get_str(says, "version", "");
    const char *text = json_get_str(says, "text", NULL);

    (void)write;
    action->kind = ACTION_RAS;
    action->body = json_pack("{s:s}", "node", node->name);
    if (text)
        return json_object_set_new(action->body, "text",
                                   json_stringn(text, (size_t)utf8_fit(text, RAS_MAX)));
    return json_object_update_new(
        action->body, json_pack("{s:o, s:I, s:o, s:o, s:I, s:I}", "version",
                                json_stringn(version, (size_t)utf8_fit(version, 40)),
                                "seen", (json_int_t)json_get_int(says, "seen", 0),
                                "missing", copy_ranks(json_object_get(says, "missing")),
                                "behind", copy_ranks(json_object_get(says, "behind")),
                                "least", (json_int_t)json_get_int(says, "least", 0),
                                "most", (json_int_t)json_get_int(says, "most", 0)));
}

/* An address of another rank at which this one cannot reach it. */
static int parse_unreached(struct action *action, const struct node *node, json_t *line,
                           struct store_write *write)
{
    static const char *const keys[] = {"over", "address", "interface", "via", "reason"};

    (void)node;
    (void)write;
    action->kind = ACTION_UNREACHED;
    action->body = json_pack("{s:i, s:i}", "rank", action->rank, "peer",
                             (int)json_get_int(line, "peer", -1));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = json_get_str(line, keys[i], "");

        json_object_set_new(action->body, keys[i],
                            json_stringn(text, (size_t)utf8_fit(text, WAY_MAX)));
    }
    return action->body ? 0 : -1;
}

/* What NCCL's log said of a rank: passed on as it is. */
static int parse_nccl(struct action *action, const struct node *node, json_t *line,
                      struct store_write *write)
{
    json_t *log = json_object_get(line, "log");

    (void)write;
    if (!json_is_object(log))
        return 0;
    action->kind = ACTION_NCCL;
    action->type = "nccl";
    action->body =
        json_pack("{s:i, s:i, s:i, s:s, s:O}", "case", action->case_no, "attempt",
                  action->attempt, "rank", action->rank, "node", node->name, "log", log);
    return action->body ? 0 : -1;
}

/* The lists of CPUs that are some, as many as the node can have ranks. */
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

/* What the node's ranks are bound to, {"to", "cpus"} or {"to", "reason"}; NULL: it does
 * not say. */
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

/* Under which conditions the node runs its ranks, with what is worth saying of that. */
static int parse_conditions(struct action *action, const struct node *node, json_t *line,
                            struct store_write *write)
{
    json_t *bind = copy_bind(json_object_get(line, "bind"));
    double values[CONDITION_COUNT];

    (void)write;
    conditions_read(line, values);
    action->kind = ACTION_MESSAGE;
    action->type = "conditions";
    action->body = json_pack("{s:i, s:i, s:s}", "case", action->case_no, "attempt",
                             action->attempt, "node", node->name);
    if (bind)
        json_object_set_new(action->body, "bind", bind);
    json_object_update_new(action->body, conditions_json(values));
    return json_object_set_new(action->body, "notes", conditions_notes(values));
}

/* What NCCL wrote of the node; the event says where it is kept. */
static int parse_artifact(struct action *action, const struct node *node, json_t *line,
                          struct store_write *write)
{
    static const char *const names[] = {"topology.xml", "graph.xml"};
    const char *name = json_get_str(line, "name", "");
    const char *text = json_get_str(line, "text", "");
    char digest[DIGEST_TEXT_SIZE];
    struct store_artifact item = {.run = action->active->run->id,
                                  .node = node->name,
                                  .digest = digest,
                                  .case_no = action->case_no,
                                  .text = text};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            item.name = names[i];
    if (!item.name || strlen(text) > ARTIFACT_MAX)
        return 0;
    if (digest_text(text, digest) || store_write_artifact(write, &item))
        return -1;
    action->kind = ACTION_MESSAGE;
    action->type = "artifact";
    action->body = json_pack("{s:i, s:i, s:s, s:s, s:I, s:s}", "case", action->case_no,
                             "attempt", action->attempt, "node", node->name, "name", name,
                             "bytes", (json_int_t)strlen(text), "digest", digest);
    return action->body ? 0 : -1;
}

/* What the case's memory allows, of runs that have one ceiling (find_ceiling). */
static int parse_triad(struct action *action, const struct node *node, json_t *line,
                       struct store_write *write)
{
    const struct run *run = action->active->run;
    struct memory_triad triad;

    (void)node;
    (void)write;
    if (!run->ceiling || !memory_triad_read(line, &triad) ||
        triad.ranks != run->pool.world_size)
        return 0;
    action->kind = ACTION_MESSAGE;
    action->type = "triad";
    action->body = json_pack("{s:i, s:i, s:f, s:I, s:o}", "case", action->case_no,
                             "attempt", action->attempt, "gbs", triad.gbs, "cache_bytes",
                             (json_int_t)triad.cache_bytes, "ceiling",
                             memory_ceiling_verdict(&triad));
    return action->body ? 0 : -1;
}

static int parse_progress(struct action *action, const struct node *node, json_t *line,
                          struct store_write *write)
{
    (void)node;
    (void)write;
    action->kind = ACTION_PROGRESS;
    action->body = json_incref(line);
    return 0;
}

static const struct {
    const char *type;
    line_parser *parse;
    bool needs_rank;
} line_types[] = {
    {"spawn", parse_spawn, true},         {"phase", parse_phase, true},
    {"done", parse_done, true},           {"exit", parse_exit, true},
    {"result", parse_result, true},       {"metric", parse_metric, true},
    {"output", parse_output, false},      {"log", parse_log, false},
    {"refused", parse_refused, false},    {"gone", parse_gone, false},
    {"progress", parse_progress, true},   {"nccl", parse_nccl, true},
    {"stack", parse_stack, true},         {"ras", parse_ras, false},
    {"unreached", parse_unreached, true}, {"conditions", parse_conditions, false},
    {"artifact", parse_artifact, false},  {"triad", parse_triad, true},
};

/* The run that a line speaks of, if it is one that is alive here and now. */
static struct active_run *run_of_line(struct scheduler *scheduler, const json_t *line)
{
    struct active_run *active = active_run_find(scheduler, json_get_str(line, "run", ""));

    return active && !run_has_ended(active->run) ? active : NULL;
}

/* Whoever has an agent's token can post here: a node speaks for itself only. */
static int check_speaker(const struct action *action, const struct node *node,
                         bool needs_rank, struct error *err)
{
    const char *run = action->active->run->id;
    const struct run_nodes *on = &live_of(action)->on;
    const struct run_node *holder =
        action->rank < 0 ? NULL : run_nodes_of_rank(on, action->rank);

    if (holder && strcmp(holder->name, node->name) == 0)
        return 0;
    if (!run_nodes_find(on, node->name))
        return error_set(err, ERROR_INVALID, "%s takes no part in case %d of run %s",
                         node->name, action->case_no, run);
    if (!needs_rank && action->rank < 0)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "%s can't speak for rank %d of run %s: %s has it", node->name,
                     action->rank, run, holder ? holder->name : "nobody");
}

int action_parse(struct scheduler *scheduler, const struct node *node, json_t *line,
                 struct store_write *write, struct action *action, struct error *err)
{
    const char *type = json_get_str(line, "type", "");

    memset(action, 0, sizeof(*action));
    action->rank = (int)json_get_int(line, "rank", -1);
    action->case_no = (int)json_get_int(line, "case", -1);
    action->attempt = (int)json_get_int(line, "attempt", -1);
    action->peer = -1;
    snprintf(action->run, sizeof(action->run), "%s", json_get_str(line, "run", ""));
    action->active = run_of_line(scheduler, line);
    if (strcmp(type, "gone") == 0)
        action->kind = ACTION_GONE; /* frees the node also when the run has ended */
    if (!action->active)
        return 0;
    action->active->pending++;
    if (!live_of(action) && action->kind != ACTION_GONE)
        return 0;
    for (size_t i = 0; i < sizeof(line_types) / sizeof(line_types[0]); i++) {
        if (strcmp(type, line_types[i].type) != 0)
            continue;
        /* `gone` is of the node that says it, whatever else the line names. */
        if (line_types[i].parse != parse_gone &&
            check_speaker(action, node, line_types[i].needs_rank, err))
            return -1;
        return line_types[i].parse(action, node, line, write)
                   ? error_set(err, ERROR_MEMORY, "out of memory")
                   : 0;
    }
    return 0;
}

/* Whether the rank has said how it ended, in a line before this one. */
static bool is_known_end(const struct action *action)
{
    struct live_case *live = live_of(action);
    bool is_end = action->kind == ACTION_RANK && action->state >= RANK_DONE && live;
    bool is_known = is_end && action->is_exit && live_case_reported(live, action->rank);

    if (is_end)
        live_case_note_reported(live, action->rank);
    return is_known;
}

int action_write(struct action *action, struct store_write *write)
{
    if (is_known_end(action)) {
        action->kind = ACTION_NONE;
        action->type = NULL;
    }
    if (!action->type)
        return 0;
    return store_write_event(write, action->active->run->id, action->time_ms,
                             action->type, action->body);
}

static void perform_rank(struct action *action)
{
    struct live_case *live = live_of(action);
    struct rank_report report = {.rank = action->rank,
                                 .state = action->state,
                                 .reason = action->reason,
                                 .peer = action->peer};

    if (live) {
        case_transport_take_each(live, action->rank, action->body);
        live_case_rank(live, &report);
    }
}

void action_apply(const struct action *action)
{
    if (action->type)
        run_fold(action->active->run, action->time_ms, action->type, action->body);
}

void action_perform(struct action *action, const struct node *node)
{
    struct live_case *live = live_of(action);

    switch (action->kind) {
    case ACTION_RANK:
        perform_rank(action);
        break;
    case ACTION_EXITED_WELL:
        if (live)
            live_case_exited_well(live, action->rank);
        break;
    case ACTION_RESULT:
        action->active->scheduler->counters.results++;
        if (live)
            live_case_result(live);
        break;
    case ACTION_OUTPUT:
        if (live)
            live_case_result(live);
        break;
    case ACTION_PROGRESS:
        if (live)
            live_case_progress(live, action->rank, action->body);
        break;
    case ACTION_REFUSED:
        if (live)
            live_case_refused(live, node->name, action->reason);
        break;
    case ACTION_STACK:
        if (live)
            live_case_stack(live, action->rank, action->body);
        break;
    case ACTION_RAS:
        if (live)
            live_case_ras(live, action->body);
        break;
    case ACTION_UNREACHED:
        if (live)
            live_case_unreached(live, action->rank, action->body);
        break;
    case ACTION_NCCL:
        if (live)
            live_case_nccl(live, action->rank, json_object_get(action->body, "log"));
        break;
    case ACTION_GONE:
        if (live)
            live_case_gone(live, node->name, action->reason);
        break;
    case ACTION_MESSAGE:
    case ACTION_NONE:
        break;
    }
}

void action_release(struct action *action)
{
    free(action->reason);
    json_decref(action->body);
    if (action->active)
        active_run_unref(action->active);
}
