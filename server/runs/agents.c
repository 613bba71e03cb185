/* SPDX-License-Identifier: Apache-2.0 */
/* agents.c - registers agents, answers their polls and stores their batches of events */
#include "server/runs/agents.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/time_scale.h"
#include "common/base/version.h"
#include "common/spec/batch_group.h"
#include "common/spec/spec_value.h"
#include "server/nodes/node.h"
#include "server/runs/agent_lines.h"
#include "server/runs/cases.h"
#include "server/runs/node_claim.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/services.h"
#include "server/store/store.h"

#define POLLS_PER_S 1000

struct agents {
    const struct services *services;
    struct node_registry *nodes;
    struct cases *cases;
    struct agents_config config;
    size_t n_batches; /* event batches being written to disk */
};

/* A batch of event lines that is being written to disk. */
struct batch {
    struct agents *agents;
    struct node *node;
    char identity[DIGEST_TEXT_SIZE];
    struct agent_line *lines;
    size_t n_lines, capacity;
    /* for each rank state: 1 + index of the latest line that reports the state; 0: none
     */
    size_t reached[RANK_STATE_COUNT];
    int64_t now_ms, last_seq;
    agents_acked *done;
    void *arg;
};

struct agents *agents_create(const struct services *services, struct node_registry *nodes,
                             struct cases *cases, const struct agents_config *config)
{
    struct agents *agents = memory_zeroed(1, sizeof(*agents), "the agents");

    *agents = (struct agents){services, nodes, cases, *config, 0};
    return agents;
}

void agents_close(struct agents *agents)
{
    for (size_t i = 0; i < agents->nodes->count; i++)
        node_poll_end(agents->nodes->nodes[i]);
}

void agents_free(struct agents *agents)
{
    free(agents);
}

/* ---- A node's history, stored for its page ---- */

/* The state of the node with this name before the agent registered. */
struct node_before {
    bool is_known;
    enum node_state state;
};

/* Log a change of the node's state (a value from docs/reference/api.md). detail: why, or
 * NULL. */
static void node_log(const struct services *services, const struct node *node,
                     const char *state, const char *detail)
{
    struct store_write *write = store_write_create();

    /* Nothing waits for this write, and losing the line harms no run. */
    store_write_node(write, node->name, clock_read(services->clock).wall_ms, state,
                     detail);
    store_submit(services->store, write, false, NULL, NULL);
}

static void node_log_before(const struct node_registry *nodes, const char *name,
                            struct node_before *before)
{
    const struct node *node = node_find(nodes, name);

    before->is_known = node != NULL;
    before->state = node ? node->state : NODE_LEFT;
}

static void node_log_registration(const struct services *services,
                                  const struct node *node,
                                  const struct node_before *before, bool is_new)
{
    static const char *const were[] = {
        [NODE_ALIVE] = "was alive", [NODE_LOST] = "was lost", [NODE_LEFT] = "had left"};
    char text[400];

    if (!is_new) {
        if (before->state != NODE_ALIVE)
            node_log(services, node, "returned", NULL);
        return;
    }
    snprintf(text, sizeof(text), "from %s%s%s", node->peer ? node->peer : "?",
             before->is_known ? "; the previous agent " : "",
             before->is_known ? were[before->state] : "");
    node_log(services, node, before->is_known ? "replaced" : "registered", text);
}

/* ---- Time ---- */

/* Hold polls longer with many agents, to limit the number of polls per second. */
static int64_t poll_s(const struct agents *agents)
{
    const struct agents_config *config = &agents->config;
    int64_t fair = (int64_t)agents->nodes->count / POLLS_PER_S;
    int64_t most = config->lease_s * 2 / 3;

    fair = fair < most ? fair : most;
    return fair > config->poll_s ? fair : config->poll_s;
}

/* Extend the lease by the time that polls are held longer than usual. After an answer, an
 * agent then always has the same time for its next poll. */
static int64_t lease_s(const struct agents *agents)
{
    return agents->config.lease_s + poll_s(agents) - agents->config.poll_s;
}

/* Nodes of a batch job end with the job, so count them as left and not as lost. */
static void expire_lost(struct agents *agents, struct node *node, int64_t now_ns)
{
    const struct agents_config *config = &agents->config;

    if (node->state != NODE_LOST || !batch_group(node->group) ||
        now_ns - node->last_seen_ns <
            scaled_s_to_ns(config->lease_s) + scaled_s_to_ns(config->batch_lost_s))
        return;
    node->state = NODE_LEFT;
    wake_queue(agents->services->wake);
    node_log(agents->services, node, "left",
             "lost, presumably because its batch job ended");
}

void agents_tick(struct agents *agents, int64_t now_ns)
{
    int64_t limit_s = lease_s(agents);

    for (size_t i = 0; i < agents->nodes->count; i++) {
        struct node *node = agents->nodes->nodes[i];

        expire_lost(agents, node, now_ns);
        if (node->state != NODE_ALIVE)
            continue;
        if (node->poll_done && now_ns >= node->poll_until_ns)
            node_poll_end(node);
        if (now_ns - node->last_seen_ns < scaled_s_to_ns(limit_s))
            continue;
        log_warn("node %s is %s: silent for %ld s", node->name,
                 node->leaving ? "gone" : "lost", (long)limit_s);
        node_poll_end(node);
        node->state = node->leaving ? NODE_LEFT : NODE_LOST;
        node->n_occupants = 0;
        wake_queue(agents->services->wake);
        node_log(agents->services, node, node->leaving ? "left" : "lost", node->leaving);
    }
}

/* ---- Nodes that are gone ---- */

static void forget(struct agents *agents, struct node *node)
{
    cases_forget(agents->cases, node);
    log_info("node %s is forgotten", node->name);
    node_claim_drop(agents->services->store, node);
    node_remove(agents->nodes, node);
    wake_queue(agents->services->wake);
}

int agents_forget(struct agents *agents, const char *name, struct error *err)
{
    struct node *node = node_find(agents->nodes, name);

    if (!node)
        return error_set(err, ERROR_NOT_FOUND, "there is no node %s", name);
    if (node->state == NODE_ALIVE)
        return error_set(err, ERROR_CONFLICT,
                         "node %s is alive: only a lost node or one that has left can be "
                         "forgotten; stop its agent first",
                         name);
    if (node->n_batches > 0)
        return error_set(err, ERROR_UNAVAILABLE,
                         "events of node %s are being stored: try again later", name);
    forget(agents, node);
    return 0;
}

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

/* Check the addresses, because the rendezvous store of each case on the node accepts
 * connections from them. */
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

/* Protocol versions are not translated, so the response states which side must be
 * upgraded. */
static void check_protocol(const json_t *protocol, struct problems *problems)
{
    json_int_t version = json_integer_value(protocol);

    if (protocol && !json_is_integer(protocol))
        problems_add(problems, "/protocol", "must be a whole number");
    else if (protocol && version != AGENT_PROTOCOL)
        problems_add(problems, "/protocol",
                     "the agent speaks version %lld of the agent protocol, this server "
                     "version %d: upgrade the %s",
                     (long long)version, AGENT_PROTOCOL,
                     version < AGENT_PROTOCOL ? "agent" : "server");
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
    check_protocol(json_object_get(body, "protocol"), problems);
    if (!id_is_node_name(name))
        problems_add(problems, "/name",
                     "must be 1 to 253 characters of A-Z a-z 0-9 . _ -");
    if (strlen(boot_id) != ID_UUID_LENGTH)
        problems_add(problems, "/boot_id", "must be a UUID");
    if (key_len < NODE_KEY_MIN || key_len > NODE_KEY_MAX)
        problems_add(problems, "",
                     "the header Ringbench-Agent-Key must contain the agent's random "
                     "key of 32 to 128 characters (an agent older than this server "
                     "sends no key)");
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

/* Store the agent so that it is known after a server restart, even before it reports
 * anything. */
static void remember_agent(struct agents *agents, const struct node *node)
{
    struct store_write *write = store_write_create();

    store_write_ack(write, node->identity, node->acked);
    store_submit(agents->services->store, write, false, NULL, NULL);
}

static int make_room(struct agents *agents, const struct node_registration *registration,
                     struct error *err)
{
    struct node *gone;
    int result;

    while ((result = node_claim_room(agents->nodes, agents->config.max_nodes,
                                     registration, &gone, err)) > 0)
        forget(agents, gone);
    return result;
}

static struct node *admit(struct agents *agents, struct node_registration *registration,
                          const json_t *body, const struct agents_caller *caller,
                          struct agents_registered *registered, struct error *err)
{
    struct clock_time now = clock_read(agents->services->clock);
    const struct node_claim claim = {agents->nodes, agents->cases, now.monotonic_ns,
                                     lease_s(agents)};
    const struct node *before;

    node_claim_weigh(registration, body, caller->bytes);
    if (node_claim_identify(agents->services->store, registration, caller->key, err) ||
        node_claim_check(&claim, registration, &registered->retry_after_s, err) ||
        make_room(agents, registration, err))
        return NULL;
    before = node_find(agents->nodes, registration->name);
    if (before && !digest_equal(before->identity, registration->identity))
        node_claim_drop(agents->services->store, before);
    return node_register(agents->nodes, registration, now, &registered->is_new);
}

json_t *agents_register(struct agents *agents, json_t *body,
                        const struct agents_caller *caller,
                        struct agents_registered *registered, struct problems *problems,
                        struct error *err)
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
    node_log_before(agents->nodes, from.name, &before);
    if (problems->count == 0)
        node = admit(agents, &from, body, caller, registered, err);
    json_decref(empty);
    if (!node)
        return NULL;
    node->acked = from.acked > 0 ? from.acked : 0;
    if (registered->is_new) {
        remember_agent(agents, node);
        log_info("node %s registered from %s", node->name, caller->peer);
    }
    cases_reconcile(agents->cases, node, json_object_get(body, "cases"),
                    registered->is_new);
    node_log_registration(agents->services, node, &before, registered->is_new);
    answer = json_pack("{s:s, s:I, s:I, s:I}", "agent", node->agent, "lease_s",
                       (json_int_t)lease_s(agents), "poll_s", (json_int_t)poll_s(agents),
                       "acked", (json_int_t)node->acked);
    wake_queue(agents->services->wake);
    return answer;
}

/* ---- Commands ---- */

static struct node *find_or_error(struct agents *agents, const char *agent,
                                  const char *key, struct error *err)
{
    struct node *node = node_find_agent(agents->nodes, agent);

    if (!node) {
        error_set(err, ERROR_NOT_FOUND,
                  "agent '%.40s' is unknown or not alive; register again", agent);
        return NULL;
    }
    if (node_claim_check_key(node, key, err))
        return NULL;
    node_seen(node, clock_read(agents->services->clock));
    return node;
}

int agents_poll(struct agents *agents, const char *agent, const char *key, int64_t after,
                bool is_spool_full, node_commands *done, void *arg, struct error *err)
{
    struct node *node = find_or_error(agents, agent, key, err);

    if (!node)
        return -1;
    node->is_spool_full = is_spool_full;
    node_poll(node, after, node->last_seen_ns + scaled_s_to_ns(poll_s(agents)), done,
              arg);
    return 0;
}

void agents_poll_forget(struct agents *agents, const char *agent, void *arg)
{
    struct node *node = node_find_agent(agents->nodes, agent);

    if (node && node->poll_done && node->poll_arg == arg) {
        node->poll_done = NULL;
        node->poll_arg = NULL;
    }
}

int agents_announce_leave(struct agents *agents, const char *agent, const char *key,
                          const char *reason, struct error *err)
{
    struct node *node = find_or_error(agents, agent, key, err);

    if (!node)
        return -1;
    free(node->leaving);
    node->leaving = memory_text(reason, "a node's reason");
    log_info("node %s is leaving: %s", node->name, reason);
    cases_leave(agents->cases, node);
    wake_queue(agents->services->wake);
    return 0;
}

int agents_deregister(struct agents *agents, const char *agent, const char *key,
                      struct error *err)
{
    struct node *node = find_or_error(agents, agent, key, err);

    if (!node)
        return -1;
    log_info("node %s left", node->name);
    node_poll_end(node);
    node->state = NODE_LEFT;
    node->n_occupants = 0;
    node_claim_drop(agents->services->store, node);
    node_log(agents->services, node, "left", node->leaving);
    wake_queue(agents->services->wake);
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

/* The agent receives every error, so the server logs only the first. */
static void note_refusal(struct batch *batch, const struct error *err)
{
    struct node *node = batch->node;

    batch->agents->services->counters->refused_batches++;
    if (!node->was_refused)
        log_warn("events of node %s are refused: %s; further refusals are not logged",
                 node->name, err->text);
    node->was_refused = true;
}

static void fail_batch(struct batch *batch, const struct error *err)
{
    if (err->code == ERROR_INVALID)
        note_refusal(batch, err);
    batch->done(batch->arg, err, batch->node->acked);
    batch_free(batch);
}

/* Once the batch is durable, publish its events in order, then acknowledge it. */
static void on_batch_written(void *arg, const struct error *err,
                             const struct store_event *events, size_t n_events)
{
    struct batch *batch = arg;
    struct agents *agents = batch->agents;
    struct node *node = batch->node;
    size_t next = 0;

    node->n_batches--;
    agents->n_batches--;
    if (err) {
        for (size_t i = 0; i < batch->n_lines; i++)
            if (batch->lines[i].type)
                run_log_drop(batch->lines[i].log, err);
        fail_batch(batch, err);
        return;
    }
    /* The node may have registered again meanwhile, from the same boot or another. */
    if (batch->last_seq > node->acked && digest_equal(batch->identity, node->identity))
        node->acked = batch->last_seq;
    for (size_t i = 0; i < batch->n_lines; i++)
        if (batch->lines[i].type && next < n_events)
            run_log_publish(batch->lines[i].log, &events[next++]);
    batch->done(batch->arg, NULL, batch->last_seq);
    batch_free(batch);
}

/* The node's clock may be wrong, so an event's time must not be later than now. After a
 * restart, a run's elapsed time is derived from its latest event. */
static int64_t settle_time(json_t *line, int64_t now_ms)
{
    int64_t time_ms = json_get_int(line, "time_ms", now_ms);

    time_ms = time_ms < 1 ? 1 : time_ms > now_ms ? now_ms : time_ms;
    json_object_set_new(line, "time_ms", json_integer(time_ms));
    return time_ms;
}

/* Progress lines reveal the offset of the node's clock, since an agent sends them at once
 * or drops them. */
static void note_clock(struct node *node, const json_t *line, int64_t now_ms)
{
    int64_t time_ms = json_get_int(line, "time_ms", 0);

    if (time_ms <= 0 || strcmp(json_get_str(line, "type", ""), "progress") != 0)
        return;
    node->has_clock = true;
    node->ahead_ms = time_ms - now_ms;
}

/* Let ranks of a node that reach the same state share one event. If a line with an
 * earlier state follows, start a new event. Otherwise a rank's later state could precede
 * its earlier state. */
static void join_ranks(struct batch *batch, struct agent_line *line)
{
    size_t *at = &batch->reached[line->report.state];

    if (*at > 0 && agent_line_join(&batch->lines[*at - 1], line))
        return;
    *at = batch->n_lines;
    for (int later = line->report.state + 1; later < RANK_STATE_COUNT; later++)
        batch->reached[later] = 0;
}

/* Add one line to the batch. */
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
        return error_set(
            err, ERROR_CONFLICT,
            "event %lld follows event %lld: the events between them are missing",
            (long long)seq, (long long)batch->last_seq);
    batch->lines = memory_grown(batch->lines, batch->n_lines, &batch->capacity,
                                sizeof(*batch->lines), "an agent's events");
    line = &batch->lines[batch->n_lines++];
    if (agent_line_parse(batch->agents->cases, batch->node, json, write, line, err))
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

/* Once the whole batch is accepted, apply the events of all its lines to their runs. */
static void fold_all(struct batch *batch, struct store_write *write)
{
    for (size_t i = 0; i < batch->n_lines; i++)
        agent_line_fold(&batch->lines[i]);
    store_write_ack(write, batch->node->identity, batch->last_seq);
}

/* is_stored: false if the batch contains only transient lines, which are not numbered. */
static void perform_all(struct batch *batch, bool is_stored)
{
    for (size_t i = 0; i < batch->n_lines; i++)
        if ((is_stored || agent_line_is_passing(&batch->lines[i])) &&
            agent_line_perform(&batch->lines[i], batch->node))
            wake_queue(batch->agents->services->wake);
}

/* Return true if the node must retry later: its previous batch is still being stored, or
 * writes fail at present and a batch of another node is waiting already. */
static bool is_storing(const struct agents *agents, const struct node *node)
{
    return node->n_batches > 0 ||
           (agents->n_batches > 0 && !store_takes_writes(agents->services->store));
}

void agents_events(struct agents *agents, const char *agent, const char *key,
                   const char *ndjson, size_t len, agents_acked *done, void *arg)
{
    struct store_write *write;
    struct batch *batch;
    struct error err;
    struct node *node = find_or_error(agents, agent, key, &err);

    if (!node) {
        done(arg, &err, 0);
        return;
    }
    if (is_storing(agents, node)) {
        error_set(&err, ERROR_UNAVAILABLE, "earlier events are still being stored");
        done(arg, &err, node->acked);
        return;
    }
    write = store_write_create();
    batch = memory_zeroed(1, sizeof(*batch), "an agent's events");
    batch->agents = agents;
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
    agents->n_batches++;
    node->taken = batch->last_seq;
    fold_all(batch, write);
    store_submit(agents->services->store, write, true, on_batch_written, batch);
    perform_all(batch, true);
    wake_soon(agents->services->wake);
}
