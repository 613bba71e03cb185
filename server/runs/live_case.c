/* SPDX-License-Identifier: Apache-2.0 */
/* live_case.c - tracks one case under way, from its rendezvous to its end */
#include "server/runs/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "server/analysis/unreached.h"
#include "server/nodes/node.h"
#include "server/runs/blame.h"
#include "server/runs/case_blame.h"
#include "server/runs/case_start.h"
#include "server/runs/case_transport.h"
#include "server/runs/live_case_state.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"

/* Time between the first failure and the stop. The first report does not always name the
 * cause, so other ranks get time to report, too. */
#define GRACE_NS INT64_C(1000000000)
/* Time that other ranks get to try their own paths after a rank reports a broken path. */
#define UNREACHED_NS INT64_C(3000000000)

/* The deadline to join is extended by one second for every 20 ranks. */
#define JOIN_RANKS_PER_S 20

/* Time allowed for a stop. The agent sends SIGKILL 5 s after SIGTERM, and its report then
 * needs time to arrive. */
#define STOP_NS INT64_C(12000000000)

/* A live agent accepts a stop command at once and polls again. An agent that has no open
 * poll and has been silent for this long is dead, even if its lease has not expired. */
#define SILENT_NS INT64_C(5000000000)

static int64_t time_ns(const struct live_case *live)
{
    return clock_read(live->cases->services->clock).monotonic_ns;
}

static struct run_case *model_of(const struct live_case *live)
{
    return &live->run->cases[live->index];
}

static int attempt_of(const struct live_case *live)
{
    return model_of(live)->attempt;
}

/* Return run node `i`. The pointer is cached, because a node's address in memory does not
 * change while the node is registered. */
static struct node *node_at(const struct live_case *live, size_t i)
{
    struct live_node *at = &live->nodes[i];

    if (!at->node)
        at->node = node_find(live->cases->nodes, live->on.items[i].name);
    return at->node;
}

/* End the case and free its nodes and its rendezvous. Only the model keeps the result. */
static void finish(struct live_case *live, enum case_state state, const char *reason)
{
    struct case_end end = {state, reason, live->blamed,
                           case_transport_fold(live, state == CASE_COMPLETED)};

    run_log_case_end(live->log, live->index, attempt_of(live), &end);
    json_decref(end.transports);
    live_case_free(live);
}

static void finish_well(struct live_case *live)
{
    const struct run_case *model = model_of(live);

    if (model->wrong > 0)
        live->blamed = case_blame_wrong(live, model);
    finish(live, model->wrong > 0 ? CASE_FAILED : CASE_COMPLETED,
           model->wrong > 0 ? "wrong data" : NULL);
}

/* Return the time that ranks have to join. Unless the spec sets it, the time grows with
 * their number. */
static long join_s(const struct live_case *live)
{
    long asked_s = live->run->spec->join_s;

    return asked_s ? asked_s
                   : live->cases->config.join_s + live->on.world_size / JOIN_RANKS_PER_S;
}

static void wait_to_join(struct live_case *live)
{
    live->join_until_ns = time_ns(live) + join_s(live) * INT64_C(1000000000);
}

static void on_start_stored(void *arg, struct run_log *log, size_t index)
{
    struct live_case *live;
    struct error err;

    LIST_FOREACH (live, &((struct cases *)arg)->live, entry)
        if (live->log == log && live->index == index)
            break;
    if (!live || live->stage != STAGE_STARTING)
        return;
    live->stage = STAGE_JOINING;
    wait_to_join(live);
    if (case_start_send(live, &err))
        live_case_stop(live, CASE_FAILED, err.text);
}

void cases_start(struct cases *cases, struct run_log *log, size_t index)
{
    const struct run *run = run_log_run(log);
    int attempt = run->cases[index].attempt + 1;
    struct live_case *live = live_case_create(cases, log, index);
    struct error err;

    live->store = case_start_open_store(live, attempt, &err);
    if (!live->store) {
        live_case_free(live);
        /* Stay queued while another case of the same round holds the port that this case
         * needs. */
        if (err.code != ERROR_UNAVAILABLE || run->n_live == 0)
            run_log_case(log, index, attempt, CASE_FAILED, err.text);
        return;
    }
    for (size_t i = 0; i < live->on.n; i++)
        node_occupy(node_at(live, i), run->id, (int)index, attempt, run->spec->share);
    cases->services->counters->cases_started++;
    if (run->state != RUN_RUNNING && run->n_live == 0)
        run_log_state(log, RUN_RENDEZVOUS, NULL);
    run_log_case_start(log, index, attempt, on_start_stored, cases);
}

/* Ranks report their transports only once, so restore the reports from stored events. */
static void take_ways(struct live_case *live, const json_t *told)
{
    const json_t *body;
    size_t i;

    json_array_foreach (told, i, body) {
        json_t *log = json_object_get(body, "log");

        if (log)
            case_transport_take(live, (int)json_get_int(body, "rank", -1), log);
        else
            case_transport_take_each(live, -1, body);
    }
}

void cases_resume(struct cases *cases, struct run_log *log, size_t index,
                  const json_t *told)
{
    struct live_case *live = live_case_create(cases, log, index);
    const struct run_case *model = &live->run->cases[index];

    live->stage = STAGE_RUNNING;
    /* Start the stall timeout at the deadline for the agents' return, since progress may
     * not arrive earlier. */
    live->changed_ns = cases->awaits_nodes_until_ns;
    for (int i = 0; i < live->on.world_size && model->ranks; i++) {
        if (model->ranks[i].state == RANK_FAILED)
            live->failed_first = live->failed_first < 0 ? i : live->failed_first;
        live->ranks[i].is_reported = model->ranks[i].state >= RANK_DONE;
        live->ranks[i].peer = -1;
        live->ranks[i].reason = memory_text(model->ranks[i].reason, "a reason");
    }
    if (live->failed_first >= 0)
        live->grace_until_ns = time_ns(live) + GRACE_NS;
    take_ways(live, told);
}

static bool all_gone(const struct live_case *live)
{
    for (size_t i = 0; i < live->on.n; i++)
        if (!live->nodes[i].is_gone)
            return false;
    return true;
}

static bool all_done(const struct live_case *live)
{
    const struct run_case *model = model_of(live);

    for (int i = 0; model->ranks && i < live->on.world_size; i++)
        if (model->ranks[i].state < RANK_DONE)
            return false;
    return true;
}

/* Return true if all ranks have reached the state. *n: ranks below this number are known
 * to have reached it, so each call continues where the previous one ended. */
static bool all_reached(const struct live_case *live, enum rank_state state, int *n)
{
    const struct run_case *model = model_of(live);

    while (model->ranks && *n < live->on.world_size && model->ranks[*n].state >= state)
        ++*n;
    return !model->ranks || *n == live->on.world_size;
}

static bool any_failed(const struct live_case *live)
{
    return live->failed_first >= 0 || live->lost || live->unreached;
}

/* Tell the agent of run node `i` to stop its workers, if any are left. */
static void send_stop(struct live_case *live, size_t i)
{
    struct node *node = node_at(live, i);

    if (live->nodes[i].is_gone || !node || node->state != NODE_ALIVE)
        return;
    node_command(node, json_pack("{s:s, s:s, s:i, s:i, s:o, s:b}", "type", "stop", "run",
                                 live->run->id, "case", (int)live->index, "attempt",
                                 attempt_of(live), "reason",
                                 json_clean_string(live->end_reason), "stacks",
                                 live->wants_stacks));
}

static void clear_node(struct live_case *live, size_t i, const char *why);

void live_case_stop(struct live_case *live, enum case_state state, const char *reason)
{
    enum live_stage before = live->stage;

    if (before == STAGE_ENDING)
        return;
    live->stage = STAGE_ENDING;
    live->end_state = state;
    live->end_reason = memory_text(reason, "a reason");
    live->end_until_ns = time_ns(live) + STOP_NS;
    if (before == STAGE_STARTING) {
        /* No command was sent, so the nodes will not report. */
        for (size_t i = 0; i < live->on.n; i++)
            clear_node(live, i, NULL);
        return;
    }
    run_log_message(live->log, state == CASE_CANCELLED ? "info" : "error",
                    "stopping case %zu: %s", live->index, reason);
    for (size_t i = 0; i < live->on.n; i++)
        send_stop(live, i);
    wake_soon(live->cases->services->wake);
}

/* Stop the case with a blame (stolen) as the reason. */
static void stop_blaming(struct live_case *live, json_t *blame)
{
    char reason[BLAME_SENTENCE_SIZE];

    blame_sentence(blame, reason, sizeof(reason));
    if (live->stage == STAGE_ENDING)
        json_decref(blame);
    else
        live->blamed = blame;
    live_case_stop(live, CASE_FAILED, reason);
}

static void note_failure(struct live_case *live)
{
    if (live->stage == STAGE_ENDING || live->grace_until_ns)
        return;
    live->grace_until_ns = time_ns(live) + GRACE_NS;
    wake_soon(live->cases->services->wake);
}

static void enter_running(struct live_case *live)
{
    live->stage = STAGE_RUNNING;
    live->changed_ns = time_ns(live);
    /* Log the run's state before the case's state. If the server is killed between the
     * two events, it restores the case as not running. The ranks' next report then logs
     * the case's state. */
    if (live->run->state != RUN_RUNNING)
        run_log_state(live->log, RUN_RUNNING, NULL);
    run_log_case(live->log, live->index, attempt_of(live), CASE_RUNNING, NULL);
}

void live_case_rank(struct live_case *live, const struct case_report *report)
{
    struct live_rank *rank = &live->ranks[report->rank];

    case_transport_take_each(live, report->rank, report->body);
    live->changed_ns = time_ns(live);
    if (report->state == RANK_FAILED) {
        if (live->failed_first < 0)
            live->failed_first = report->rank;
        rank->peer = report->peer;
        free(rank->reason);
        rank->reason = memory_text(report->reason, "a reason");
        note_failure(live);
    } else if (live->stage == STAGE_JOINING &&
               all_reached(live, RANK_CONNECTED, &live->n_connected)) {
        enter_running(live);
    } else if (live->stage == STAGE_JOINING && report->state == RANK_JOINED &&
               all_reached(live, RANK_JOINED, &live->n_joined)) {
        /* give all ranks the full time again, for the driver's start and NCCL's init */
        wait_to_join(live);
    }
    wake_soon(live->cases->services->wake);
}

/* Record a failure for a rank whose worker reported none. */
static void fail_rank(struct live_case *live, int rank, const char *reason)
{
    struct case_report report = {
        .rank = rank, .state = RANK_FAILED, .reason = reason, .peer = -1};
    const struct run_case *model = model_of(live);

    if (model->ranks && model->ranks[rank].state >= RANK_DONE)
        return;
    run_log_append(live->log, "rank",
                   json_pack("{s:i, s:i, s:i, s:s, s:s, s:o}", "case", (int)live->index,
                             "attempt", attempt_of(live), "rank", rank, "node",
                             run_nodes_of_rank(&live->on, rank)->name, "state", "failed",
                             "reason", json_clean_string(reason)));
    live_case_rank(live, &report);
}

void live_case_exited(struct live_case *live, const struct case_report *report)
{
    if (report->state == RANK_FAILED)
        live_case_rank(live, report);
    else
        fail_rank(live, report->rank, "worker exited 0 without finishing");
}

/* Record a failure for the ranks of a node that ended without a report. */
static void fail_silent_ranks(struct live_case *live, const struct run_node *node,
                              const char *why)
{
    for (int i = node->first_rank; i < node->first_rank + node->ranks; i++)
        if (live->stage != STAGE_ENDING)
            fail_rank(live, i, why ? why : "its worker exited without a result");
}

/* Mark run node i as free of workers. */
static void clear_node(struct live_case *live, size_t i, const char *why)
{
    struct node *node = node_at(live, i);

    wake_soon(live->cases->services->wake);
    if (live->nodes[i].is_gone)
        return;
    live->nodes[i].is_gone = true;
    /* The run keeps its nodes until it ends. Only a run that shares its nodes frees them
     * for other runs after each case. */
    if (node && node_vacate(node, live->run->id, (int)live->index, attempt_of(live)) &&
        live->run->spec->share)
        live->cases->has_freed = true;
    if (!live->nodes[i].is_lost)
        fail_silent_ranks(live, &live->on.items[i], why);
}

void live_case_gone(struct live_case *live, const struct case_report *report)
{
    const struct run_node *place = run_nodes_find(&live->on, report->node);

    if (place)
        clear_node(live, (size_t)(place - live->on.items), report->reason);
}

void live_case_refused(struct live_case *live, const struct case_report *report)
{
    json_t *blame = blame_create(BLAME_NODE_REFUSED);

    blame_add(blame, -1, report->node, report->reason);
    stop_blaming(live, blame);
}

void live_case_stack(struct live_case *live, const struct case_report *report)
{
    json_decref(live->ranks[report->rank].process);
    live->ranks[report->rank].process = json_incref(report->body);
}

/* Record a path that a rank cannot use. A rank reports it after a failed attempt, or, if
 * the attempt got no answer, when the rank is stopped. */
void live_case_unreached(struct live_case *live, const struct case_report *report)
{
    json_t *way = report->body;
    int rank = report->rank;
    int64_t peer = json_get_int(way, "peer", -1);
    const struct run_node *from = run_nodes_of_rank(&live->on, rank);
    const struct run_node *to = peer < 0 || peer >= live->on.world_size
                                    ? NULL
                                    : run_nodes_of_rank(&live->on, (int)peer);

    if (!from || !to || live->stage == STAGE_RUNNING)
        return;
    live->ranks[rank].cannot_reach = true;
    if (!live->unreached)
        live->unreached = json_array();
    json_object_set_new(way, "from", json_string(from->name));
    json_object_set_new(way, "to", json_string(to->name));
    unreached_add(live->unreached, way);
    if (live->stage != STAGE_ENDING && !live->grace_until_ns) {
        live->grace_until_ns = time_ns(live) + UNREACHED_NS;
        wake_soon(live->cases->services->wake);
    }
}

bool live_case_tells_ports(struct live_case *live, const char *node)
{
    const struct node *own = node_find(live->cases->nodes, node), *other;

    for (size_t i = 0; own && i < live->on.n; i++) {
        other = node_at(live, i);
        if (other == own)
            break;
        if (other && node_shares_ports(other, own))
            return false;
    }
    return true;
}

void live_case_nccl(struct live_case *live, const struct case_report *report)
{
    case_transport_take(live, report->rank, json_object_get(report->body, "log"));
}

void live_case_output(struct live_case *live, const struct case_report *report)
{
    (void)report;
    live->changed_ns = time_ns(live);
}

void live_case_result(struct live_case *live, const struct case_report *report)
{
    live->cases->services->counters->results++;
    live_case_output(live, report);
}

/* Return a count from an event. The limit is higher than any real count, and low enough
 * that later arithmetic does not overflow. */
static int64_t count_of(const json_t *event, const char *key)
{
    int64_t count = json_get_int(event, key, 0);

    return count < 0 ? 0 : count > INT64_MAX >> 8 ? INT64_MAX >> 8 : count;
}

void live_case_progress(struct live_case *live, const struct case_report *report)
{
    const json_t *event = report->body;
    int rank = report->rank;
    struct live_rank *r;
    int64_t op = count_of(event, "op"), done = count_of(event, "done"),
            checked = count_of(event, "checked"), links = count_of(event, "links");

    if (rank < 0 || rank >= live->on.world_size || live->stage == STAGE_ENDING)
        return;
    if (live->early_logs)
        case_transport_go_on(live);
    r = &live->ranks[rank];
    r->heard_ns = time_ns(live);
    if (op != r->op || done != r->done || checked != r->checked || links != r->links)
        live->changed_ns = time_ns(live);
    r->op = op;
    r->done = done;
    r->checked = checked;
    r->links = links;
    r->size = json_get_int(event, "size", 0);
    snprintf(r->phase, sizeof(r->phase), "%s", json_get_str(event, "phase", ""));
}

bool live_case_reported(const struct live_case *live, int rank)
{
    return rank >= 0 && rank < live->on.world_size && live->ranks[rank].is_reported;
}

void live_case_note_reported(struct live_case *live, int rank)
{
    if (rank >= 0 && rank < live->on.world_size)
        live->ranks[rank].is_reported = true;
}

void live_case_reconcile(struct live_case *live, struct node *node, bool still_there,
                         bool is_new)
{
    const struct run *run = live->run;
    const struct run_node *place = run_nodes_find(&live->on, node->name);
    size_t i = place ? (size_t)(place - live->on.items) : 0;

    if (!place)
        return;
    if (!still_there) {
        clear_node(live, i, is_new ? "its agent was restarted" : NULL);
        return;
    }
    node_occupy(node, run->id, (int)live->index, attempt_of(live), run->spec->share);
    if (live->stage == STAGE_ENDING)
        send_stop(live, i);
}

/* Record that run node `i` was lost together with its ranks. Failures of these ranks'
 * peers are consequences. */
static void note_lost(struct live_case *live, size_t i, const char *how,
                      struct case_blame_word *word)
{
    const struct run_node *node = &live->on.items[i];

    live->is_blamed_lost = live->is_blamed_lost || case_blame_is_explained(live, i, word);
    live->nodes[i].is_lost = true;
    if (!live->lost)
        live->lost = blame_create(BLAME_NODE_LOST);
    blame_add(live->lost, -1, node->name, how);
    for (int k = node->first_rank; k < node->first_rank + node->ranks; k++)
        fail_rank(live, k, how);
    if (live->stage == STAGE_ENDING && live->end_state == CASE_FAILED &&
        live->is_blamed_lost) {
        json_decref(live->blamed);
        live->blamed = json_deep_copy(live->lost);
        live->wants_stacks = false;
    }
}

static void lose_node(struct live_case *live, size_t i, const char *how,
                      struct case_blame_word *word)
{
    if (live->nodes[i].is_gone)
        return;
    note_lost(live, i, how, word);
    clear_node(live, i, NULL);
    note_failure(live);
}

/* Describe how the node left, is leaving, or was lost. */
static void describe_absence(const struct node *node, int64_t now_ns, char *how,
                             size_t size)
{
    if (node->leaving)
        snprintf(how, size, "agent left: %s", node->leaving);
    else if (node->state == NODE_LEFT)
        snprintf(how, size, "agent left");
    else
        snprintf(how, size, "agent lost (silent for %.0f s)",
                 (double)(now_ns - node->last_seen_ns) / 1e9);
}

void live_case_leaving(struct live_case *live, const struct node *node)
{
    const struct run_node *place = run_nodes_find(&live->on, node->name);
    const struct run_case *model = model_of(live);
    bool is_done = model->ranks != NULL;
    char how[NODE_LEAVING_MAX + 64];
    json_t *blame;

    for (int i = 0; place && is_done && i < place->ranks; i++)
        is_done = model->ranks[place->first_rank + i].state == RANK_DONE;
    if (!place || is_done)
        return;
    describe_absence(node, 0, how, sizeof(how));
    blame = blame_create(BLAME_NODE_LEAVING);
    blame_add(blame, -1, node->name, how);
    stop_blaming(live, blame);
}

/* Record how the node left, because the caller then unregisters the node and this
 * information is lost. */
void live_case_forget(struct live_case *live, const struct node *node)
{
    struct case_blame_word word = {.is_known = false};
    char how[NODE_LEAVING_MAX + 64];

    describe_absence(node, time_ns(live), how, sizeof(how));
    for (size_t i = 0; i < live->on.n; i++) {
        if (node_at(live, i) != node)
            continue;
        lose_node(live, i, how, &word);
        live->nodes[i].node = NULL;
    }
}

static void check_nodes(struct live_case *live, int64_t now_ns)
{
    struct case_blame_word word = {.is_known = false};
    char how[NODE_LEAVING_MAX + 64];

    for (size_t i = 0; i < live->on.n; i++) {
        const struct node *node = node_at(live, i);

        if (live->nodes[i].is_gone)
            continue;
        if (!node && now_ns > live->cases->awaits_nodes_until_ns) {
            lose_node(live, i, "agent did not come back after the server's restart",
                      &word);
        } else if (node && node->state != NODE_ALIVE) {
            describe_absence(node, now_ns, how, sizeof(how));
            lose_node(live, i, how, &word);
        }
    }
}

static bool is_silent(const struct live_case *live, size_t i, int64_t now_ns)
{
    const struct node *node = node_at(live, i);

    return !live->nodes[i].is_gone && node && !node->poll_done &&
           now_ns - node->last_seen_ns >= SILENT_NS;
}

static bool all_gone_or_silent(const struct live_case *live, int64_t now_ns)
{
    for (size_t i = 0; i < live->on.n; i++)
        if (!live->nodes[i].is_gone && !is_silent(live, i, now_ns))
            return false;
    return true;
}

/* Stop waiting for nodes that still have workers. Such a node stays occupied until its
 * agent reports that the workers are gone, or loses its lease. */
static void give_up_waiting(struct live_case *live, int64_t now_ns)
{
    struct case_blame_word word = {.is_known = false};
    bool any_alive = false;
    char how[NODE_LEAVING_MAX + 64];

    for (size_t i = 0; i < live->on.n; i++) {
        any_alive = any_alive || (!live->nodes[i].is_gone && !is_silent(live, i, now_ns));
        if (!is_silent(live, i, now_ns) || live->nodes[i].is_lost)
            continue;
        describe_absence(node_at(live, i), now_ns, how, sizeof(how));
        note_lost(live, i, how, &word);
    }
    if (any_alive)
        run_log_message(live->log, "warn",
                        "some nodes have not reported that their workers ended; these "
                        "nodes stay occupied until then");
}

static void tick_ending(struct live_case *live, int64_t now_ns)
{
    char *reason;
    enum case_state state;

    if (!all_gone(live)) {
        if (now_ns < live->end_until_ns && !all_gone_or_silent(live, now_ns))
            return;
        give_up_waiting(live, now_ns);
    }
    if (live->blamed && case_blame_is_of_ways(live, live->blamed)) {
        json_decref(live->blamed);
        live->blamed = case_blame_unreached(live);
    } else if (live->wants_stacks && live->blamed) {
        case_blame_explain(live, live->blamed);
    }
    reason = live->end_reason;
    state = live->end_state;
    live->end_reason = NULL;
    finish(live, state, reason);
    free(reason);
}

/* Stop the case if a node's disk is full. To their peers, the ranks on this node would
 * look like hung ranks. */
static bool stop_for_full_disk(struct live_case *live)
{
    json_t *blame = case_blame_full(live);

    if (blame)
        stop_blaming(live, blame);
    return blame != NULL;
}

static void tick_joining(struct live_case *live, int64_t now_ns)
{
    if (now_ns < live->join_until_ns || stop_for_full_disk(live))
        return;
    live->wants_stacks = true;
    stop_blaming(live, case_blame_missing(live, model_of(live), join_s(live)));
}

static void tick_running(struct live_case *live, int64_t now_ns)
{
    long stall_s = live->run->spec->stall_s;

    if (all_done(live) && !any_failed(live)) {
        if (all_gone(live))
            finish_well(live);
        else if (now_ns - live->changed_ns > STOP_NS)
            stop_blaming(live, case_blame_lingering(live));
        return;
    }
    if (now_ns - live->changed_ns < scaled_s_to_ns(stall_s) || stop_for_full_disk(live))
        return;
    live->wants_stacks = true;
    live->stalled_ns = now_ns;
    for (int i = 0; i < live->on.world_size; i++)
        live->ranks[i].was_over = live->ranks[i].is_reported;
    stop_blaming(live, case_blame_stall(live));
}

void live_case_excuse(struct live_case *live, int64_t ns)
{
    int64_t *deadlines[] = {&live->join_until_ns, &live->grace_until_ns,
                            &live->end_until_ns, &live->changed_ns};

    for (size_t i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
        if (*deadlines[i])
            *deadlines[i] += ns;
}

void live_case_tick(struct live_case *live, int64_t now_ns)
{
    check_nodes(live, now_ns);
    /* A failed case stops once its ranks have had time to report, or earlier if the cause
     * is clear. */
    if (live->stage != STAGE_ENDING && any_failed(live) &&
        (now_ns >= live->grace_until_ns || case_blame_is_clear(live, model_of(live))))
        stop_blaming(live, case_blame(live, model_of(live)));
    switch (live->stage) {
    case STAGE_STARTING:
        break;
    case STAGE_JOINING:
        tick_joining(live, now_ns);
        break;
    case STAGE_RUNNING:
        tick_running(live, now_ns);
        break;
    case STAGE_ENDING:
        tick_ending(live, now_ns);
        break;
    }
}
