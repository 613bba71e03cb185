/* agents.c - the agents' side of the scheduler: registration, commands, event batches */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "common/spec/spec_value.h"
#include "server/nodes/node.h"
#include "server/runs/agent_lines.h"
#include "server/runs/cases.h"
#include "server/runs/node_claim.h"
#include "server/runs/node_log.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

/* A batch of event lines on its way to the disk. */
struct batch {
    struct scheduler *scheduler;
    struct node *node;
    char identity[DIGEST_TEXT_SIZE];
    struct agent_line *lines;
    size_t n_lines, capacity;
    size_t reached[RANK_STATE_COUNT]; /* the latest line that says so of ranks, + 1 */
    int64_t now_ms, last_seq;
    scheduler_acked *done;
    void *arg;
};

/* ---- Registration ---- */

static void check_address(const json_t *address, const char *pointer,
                          struct problems *problems)
{
    const char *text = json_string_value(address);
    struct in6_addr parsed;

    if (address && !json_is_null(address) &&
        (!text || (inet_pton(AF_INET, text, &parsed) != 1 &&
                   inet_pton(AF_INET6, text, &parsed) != 1)))
        problems_add(problems, pointer,
                     "must be a numeric address, such as 10.0.0.7 or fd00::7");
}

/* The store of each case on the node is opened for these. */
static void check_addresses(const json_t *body, struct problems *problems)
{
    const json_t *list = json_object_get(json_object_get(body, "inventory"), "addresses");
    char pointer[64];

    check_address(json_object_get(body, "advertise"), "/advertise", problems);
    for (size_t i = 0; i < json_array_size(list); i++) {
        snprintf(pointer, sizeof(pointer), "/inventory/addresses/%zu/address", i);
        check_address(json_object_get(json_array_get(list, i), "address"), pointer,
                      problems);
    }
}

static void check_registration(const json_t *body, const char *key,
                               struct problems *problems)
{
    size_t key_len = key ? strlen(key) : 0;
    const char *name = json_get_str(body, "name", "");
    const char *boot_id = json_get_str(body, "boot_id", "");
    const json_t *group = json_object_get(body, "group");
    int64_t ranks = json_get_int(body, "ranks", 1);

    if (!json_is_object(body))
        problems_add(problems, "", "must be an object");
    if (json_get_int(body, "protocol", 1) != 1)
        problems_add(problems, "/protocol", "this server speaks protocol 1");
    if (!id_is_node_name(name))
        problems_add(problems, "/name", "must be 1 to 253 of A-Z a-z 0-9 . _ -");
    if (strlen(boot_id) != ID_UUID_LENGTH)
        problems_add(problems, "/boot_id", "must be a UUID");
    if (key_len < NODE_KEY_MIN || key_len > NODE_KEY_MAX)
        problems_add(problems, "",
                     "needs the header Ringbench-Agent-Key: 32 to 128 characters that "
                     "the agent made at random (an agent that is older than this server "
                     "sends none)");
    if (group && !json_is_null(group) && !json_is_string(group))
        problems_add(problems, "/group", "must be a string or null");
    else if (group)
        spec_check_name(json_get_str(body, "group", ""), "/group", problems);
    if (ranks < 0 || ranks > 4096)
        problems_add(problems, "/ranks", "must be from 0 to 4096");
    if (json_object_get(body, "labels"))
        spec_check_labels(json_object_get(body, "labels"), "/labels", problems);
    check_addresses(body, problems);
}

/* So that it is known after a restart of the server, before it has said anything. */
static void remember_agent(struct scheduler *scheduler, const struct node *node)
{
    struct store_write *write = store_write_create();

    store_write_ack(write, node->identity, node->acked);
    store_submit(scheduler->services.store, write, false, NULL, NULL);
}

static struct node *admit(struct scheduler *scheduler,
                          struct node_registration *registration, const json_t *body,
                          const struct scheduler_caller *caller,
                          struct scheduler_registered *registered, struct error *err)
{
    struct clock_time now = scheduler_now(scheduler);
    const struct node *before;

    if (node_claim_identify(scheduler, registration, caller->key, err) ||
        node_claim_check(scheduler, registration, now.monotonic_ns,
                         &registered->retry_after_s, err) ||
        node_claim_room(scheduler, registration, body, caller->bytes, err))
        return NULL;
    before = node_find(&scheduler->nodes, registration->name);
    if (before && !digest_equal(before->identity, registration->identity))
        node_claim_drop(scheduler, before);
    return node_register(&scheduler->nodes, registration, now, &registered->is_new);
}

json_t *scheduler_register(struct scheduler *scheduler, json_t *body,
                           const struct scheduler_caller *caller,
                           struct scheduler_registered *registered,
                           struct problems *problems, struct error *err)
{
    json_t *empty = json_object();
    json_t *labels = json_object_get(body, "labels");
    json_t *inventory = json_object_get(body, "inventory");
    struct node_registration from = {
        .name = json_get_str(body, "name", ""),
        .boot_id = json_get_str(body, "boot_id", ""),
        .group = json_get_str(body, "group", NULL),
        .version = json_get_str(body, "version", NULL),
        .peer = caller->peer,
        .advertise = json_get_str(body, "advertise", NULL),
        .server_host = json_get_str(body, "server_host", "127.0.0.1"),
        .labels = json_is_object(labels) ? labels : empty,
        .inventory = json_is_object(inventory) ? inventory : empty,
        .ranks = (long)json_get_int(body, "ranks", 1),
        .once = json_get_bool(body, "once", false),
    };
    struct node *node = NULL;
    struct node_before before;
    json_t *answer = NULL;

    check_registration(body, caller->key, problems);
    node_log_before(scheduler, from.name, &before);
    if (problems->count == 0)
        node = admit(scheduler, &from, body, caller, registered, err);
    json_decref(empty);
    if (!node)
        return NULL;
    node->acked = from.acked > 0 ? from.acked : 0;
    if (registered->is_new) {
        remember_agent(scheduler, node);
        log_info("node %s registered from %s", node->name, caller->peer);
    }
    cases_reconcile(scheduler->cases, node, json_object_get(body, "cases"),
                    registered->is_new);
    node_log_registration(scheduler, node, &before, registered->is_new);
    answer = json_pack("{s:s, s:I, s:I, s:I}", "agent", node->agent, "lease_s",
                       (json_int_t)scheduler_lease_s(scheduler), "poll_s",
                       (json_int_t)scheduler_poll_s(scheduler), "acked",
                       (json_int_t)node->acked);
    wake_queue(scheduler->services.wake);
    return answer;
}

/* ---- Commands ---- */

static struct node *find_or_error(struct scheduler *scheduler, const char *agent,
                                  const char *key, struct error *err)
{
    struct node *node = node_find_agent(&scheduler->nodes, agent);

    if (!node) {
        error_set(err, ERROR_NOT_FOUND, "no live agent '%.40s'; register again", agent);
        return NULL;
    }
    if (node_claim_check_key(node, key, err))
        return NULL;
    node_seen(node, scheduler_now(scheduler));
    return node;
}

int scheduler_poll(struct scheduler *scheduler, const char *agent, const char *key,
                   int64_t after, bool is_spool_full, node_commands *done, void *arg,
                   struct error *err)
{
    struct node *node = find_or_error(scheduler, agent, key, err);

    if (!node)
        return -1;
    node->is_spool_full = is_spool_full;
    node_poll(node, after,
              node->last_seen_ns + scaled_s_to_ns(scheduler_poll_s(scheduler)), done,
              arg);
    return 0;
}

void scheduler_poll_forget(struct scheduler *scheduler, const char *agent, void *arg)
{
    struct node *node = node_find_agent(&scheduler->nodes, agent);

    if (node && node->poll_done && node->poll_arg == arg) {
        node->poll_done = NULL;
        node->poll_arg = NULL;
    }
}

int scheduler_announce_leave(struct scheduler *scheduler, const char *agent,
                             const char *key, const char *reason, struct error *err)
{
    struct node *node = find_or_error(scheduler, agent, key, err);

    if (!node)
        return -1;
    free(node->leaving);
    node->leaving = memory_text(reason, "a node's reason");
    log_info("node %s is leaving: %s", node->name, reason);
    cases_leave(scheduler->cases, node);
    wake_queue(scheduler->services.wake);
    return 0;
}

int scheduler_deregister(struct scheduler *scheduler, const char *agent, const char *key,
                         struct error *err)
{
    struct node *node = find_or_error(scheduler, agent, key, err);

    if (!node)
        return -1;
    log_info("node %s left", node->name);
    node_poll_end(node);
    node->state = NODE_LEFT;
    node->n_occupants = 0;
    node_claim_drop(scheduler, node);
    node_log(scheduler, node, "left", node->leaving);
    wake_queue(scheduler->services.wake);
    return 0;
}

/* ---- Events ---- */

static void batch_free(struct batch *batch)
{
    for (size_t i = 0; i < batch->n_lines; i++)
        agent_line_release(&batch->lines[i]);
    free(batch->lines);
    free(batch);
}

/* The agent is told each time; whoever reads the log need not be. */
static void note_refusal(struct batch *batch, const struct error *err)
{
    struct node *node = batch->node;

    batch->scheduler->counters.refused_batches++;
    if (!node->was_refused)
        log_warn("events of node %s are refused: %s; this is said once", node->name,
                 err->text);
    node->was_refused = true;
}

static void fail_batch(struct batch *batch, const struct error *err)
{
    if (err->code == ERROR_INVALID)
        note_refusal(batch, err);
    batch->done(batch->arg, err, batch->node->acked);
    batch_free(batch);
}

/* Durable: show in order, then acknowledge. */
static void on_batch_written(void *arg, const struct error *err,
                             const struct store_event *events, size_t n_events)
{
    struct batch *batch = arg;
    struct scheduler *scheduler = batch->scheduler;
    struct node *node = batch->node;
    size_t next = 0;

    node->n_batches--;
    scheduler->n_batches--;
    if (err) {
        fail_batch(batch, err);
        return;
    }
    /* The node may have been registered anew meanwhile, by the same boot or another. */
    if (batch->last_seq > node->acked && digest_equal(batch->identity, node->identity))
        node->acked = batch->last_seq;
    for (size_t i = 0; i < batch->n_lines; i++)
        if (batch->lines[i].type && next < n_events)
            run_log_publish(batch->lines[i].log, &events[next++]);
    batch->done(batch->arg, NULL, batch->last_seq);
    batch_free(batch);
}

/* The node's clock may be wrong. No event is of the future: how long a run has taken is
 * known by its latest one after a restart. */
static int64_t settle_time(json_t *line, int64_t now_ms)
{
    int64_t time_ms = json_get_int(line, "time_ms", now_ms);

    time_ms = time_ms < 1 ? 1 : time_ms > now_ms ? now_ms : time_ms;
    json_object_set_new(line, "time_ms", json_integer(time_ms));
    return time_ms;
}

/* Progress is never kept: it is sent when it is said, or not at all. */
static void note_clock(struct node *node, const json_t *line, int64_t now_ms)
{
    int64_t time_ms = json_get_int(line, "time_ms", 0);

    if (time_ms <= 0 || strcmp(json_get_str(line, "type", ""), "progress") != 0)
        return;
    node->has_clock = true;
    node->ahead_ms = time_ms - now_ms;
}

/* Ranks of a node that reach the same state share one event. An event may be joined only
 * until one with an earlier state follows: otherwise a rank's later state would precede
 * its earlier one. */
static void join_ranks(struct batch *batch, struct agent_line *line)
{
    size_t *at = &batch->reached[line->report.state];

    if (*at > 0 && agent_line_join(&batch->lines[*at - 1], line))
        return;
    *at = batch->n_lines;
    for (int later = line->report.state + 1; later < RANK_STATE_COUNT; later++)
        batch->reached[later] = 0;
}

/* Take one line into the batch. */
static int take_line(struct batch *batch, struct store_write *write, json_t *json,
                     struct error *err)
{
    int64_t seq = json_get_int(json, "seq", 0), time_ms;
    struct agent_line *line;

    note_clock(batch->node, json, batch->now_ms);
    time_ms = settle_time(json, batch->now_ms);
    if (seq > 0 && seq <= batch->last_seq)
        return 0;
    if (seq > 0 && seq != batch->last_seq + 1)
        return error_set(err, ERROR_CONFLICT,
                         "event %lld follows %lld: events are missing between them",
                         (long long)seq, (long long)batch->last_seq);
    batch->lines = memory_grown(batch->lines, batch->n_lines, &batch->capacity,
                                sizeof(*batch->lines), "an agent's events");
    line = &batch->lines[batch->n_lines++];
    if (agent_line_parse(batch->scheduler->cases, batch->node, json, write, line, err))
        return -1;
    line->time_ms = time_ms;
    if (line->is_of_rank)
        join_ranks(batch, line);
    if (seq > 0)
        batch->last_seq = seq;
    return 0;
}

static int take_lines(struct batch *batch, struct store_write *write, const char *text,
                      size_t len, struct error *err)
{
    size_t number = 0;

    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) : len;
        json_t *line = NULL;
        int result;

        number++;
        if (n > 0) {
            line = json_parse(text, n, err);
            result = line ? take_line(batch, write, line, err) : -1;
            json_decref(line);
            if (result)
                return error_prefix(err, "line %zu", number);
        }
        n += end ? 1 : 0;
        text += n;
        len -= n;
    }
    return 0;
}

/* All lines are accepted. */
static void fold_all(struct batch *batch, struct store_write *write)
{
    for (size_t i = 0; i < batch->n_lines; i++)
        agent_line_fold(&batch->lines[i], write);
    store_write_ack(write, batch->node->identity, batch->last_seq);
}

/* is_stored: false, if only what has no number, which is what passes, came. */
static void perform_all(struct batch *batch, bool is_stored)
{
    for (size_t i = 0; i < batch->n_lines; i++)
        if ((is_stored || agent_line_is_passing(&batch->lines[i])) &&
            agent_line_perform(&batch->lines[i], batch->node))
            wake_queue(batch->scheduler->services.wake);
}

/* One batch of a node at a time; none while those of others wait for the disk. */
static bool is_storing(const struct scheduler *scheduler, const struct node *node)
{
    return node->n_batches > 0 ||
           (scheduler->n_batches > 0 && !store_takes_writes(scheduler->services.store));
}

void scheduler_events(struct scheduler *scheduler, const char *agent, const char *key,
                      const char *ndjson, size_t len, scheduler_acked *done, void *arg)
{
    struct store_write *write;
    struct batch *batch;
    struct error err;
    struct node *node = find_or_error(scheduler, agent, key, &err);

    if (!node) {
        done(arg, &err, 0);
        return;
    }
    if (is_storing(scheduler, node)) {
        error_set(&err, ERROR_UNAVAILABLE, "earlier events are still being stored");
        done(arg, &err, node->acked);
        return;
    }
    write = store_write_create();
    batch = memory_zeroed(1, sizeof(*batch), "an agent's events");
    batch->scheduler = scheduler;
    batch->node = node;
    memcpy(batch->identity, node->identity, sizeof(batch->identity));
    batch->now_ms = node->last_seen_ms;
    batch->last_seq = node->acked;
    batch->done = done;
    batch->arg = arg;
    if (take_lines(batch, write, ndjson, len, &err)) {
        store_write_destroy(write);
        fail_batch(batch, &err);
        return;
    }
    if (batch->last_seq == node->acked) {
        store_write_destroy(write);
        perform_all(batch, false);
        done(arg, NULL, node->acked);
        batch_free(batch);
        return;
    }
    node->n_batches++;
    scheduler->n_batches++;
    node->taken = batch->last_seq;
    fold_all(batch, write);
    store_submit(scheduler->services.store, write, true, on_batch_written, batch);
    perform_all(batch, true);
    wake_soon(scheduler->services.wake);
}
