/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - manages the registered nodes, their commands and the cases that occupy them */
#include "server/nodes/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/fnv.h"
#include "common/base/json_util.h"

static void node_destroy(struct node *node)
{
    if (!node)
        return;
    free(node->name);
    free(node->group);
    free(node->version);
    free(node->peer);
    free(node->advertise);
    free(node->server_host);
    free(node->leaving);
    json_decref(node->labels);
    json_decref(node->inventory);
    json_decref(node->commands);
    free(node->occupants);
    free(node);
}

void node_registry_release(struct node_registry *registry)
{
    HASH_CLEAR(hh, registry->by_agent);
    for (size_t i = 0; i < registry->count; i++)
        node_destroy(registry->nodes[i]);
    free(registry->nodes);
    memset(registry, 0, sizeof(*registry));
}

/* Return the index of the name, or the index at which it would be inserted. */
static size_t place_of(const struct node_registry *registry, const char *name)
{
    size_t low = 0, high = registry->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strverscmp(registry->nodes[middle]->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t node_index(const struct node_registry *registry, const char *name)
{
    size_t at = place_of(registry, name);

    if (at < registry->count && strcmp(registry->nodes[at]->name, name) == 0)
        return at;
    return registry->count;
}

size_t node_index_behind(const struct node_registry *registry, const char *name)
{
    size_t at = place_of(registry, name);

    return at < registry->count && strcmp(registry->nodes[at]->name, name) == 0 ? at + 1
                                                                                : at;
}

struct node *node_find(const struct node_registry *registry, const char *name)
{
    size_t at = node_index(registry, name);

    return at < registry->count ? registry->nodes[at] : NULL;
}

struct node *node_find_agent(const struct node_registry *registry, const char *agent)
{
    struct node *node;

    HASH_FIND_STR(registry->by_agent, agent, node);
    return node && node->state == NODE_ALIVE ? node : NULL;
}

/* Assign a new ID to the node's agent. */
static void rename_agent(struct node_registry *registry, struct node *node)
{
    if (*node->agent)
        HASH_DEL(registry->by_agent, node);
    memcpy(node->agent, "a-", 2);
    id_uuid(node->agent + 2);
    HASH_ADD_STR(registry->by_agent, agent, node);
}

static struct node *add_node(struct node_registry *registry, const char *name)
{
    size_t at = place_of(registry, name);
    struct node *node = memory_zeroed(1, sizeof(*node), "a node");
    struct node **nodes = memory_grown(registry->nodes, registry->count,
                                       &registry->capacity, sizeof(*nodes), "a node");

    node->name = memory_text(name, "a node");
    node->commands = json_array();
    /* Keep the nodes in natural order of names: node-2 before node-10. */
    memmove(&nodes[at + 1], &nodes[at], (registry->count - at) * sizeof(*nodes));
    nodes[at] = node;
    registry->nodes = nodes;
    registry->count++;
    return node;
}

void node_remove(struct node_registry *registry, struct node *node)
{
    size_t at = node_index(registry, node->name);

    HASH_DEL(registry->by_agent, node);
    registry->count--;
    registry->cost -= node->cost;
    memmove(&registry->nodes[at], &registry->nodes[at + 1],
            (registry->count - at) * sizeof(*registry->nodes));
    node_destroy(node);
}

static void replace_text(char **field, const char *text)
{
    char *copy = memory_text(text, "a node");

    free(*field);
    *field = copy;
}

static void replace_json(json_t **field, json_t *value)
{
    json_incref(value);
    json_decref(*field);
    *field = value;
}

static void take_registration(struct node *node, const struct node_registration *from)
{
    const char *machine;

    replace_text(&node->group, from->group);
    replace_text(&node->version, from->version);
    replace_text(&node->peer, from->peer);
    replace_text(&node->advertise, from->advertise);
    replace_text(&node->server_host, from->server_host);
    replace_json(&node->labels, from->labels);
    replace_json(&node->inventory, from->inventory);
    node->kept[0] = '\0';
    machine = json_get_str(node->inventory, "machine", "");
    node->machine = fnv1a(FNV1A_BEGIN, machine, strlen(machine));
    node->ranks = from->ranks;
    node->once = from->once;
}

struct node *node_register(struct node_registry *registry,
                           const struct node_registration *registration,
                           struct clock_time now, bool *is_new)
{
    struct node *node = node_find(registry, registration->name);
    bool same = node && strcmp(node->boot_id, registration->boot_id) == 0 &&
                digest_equal(node->key, registration->key);

    if (!node)
        node = add_node(registry, registration->name);
    *is_new = !same;
    if (!same) {
        node->n_occupants = 0;
        node->acked = 0;
        node->taken = 0;
        node->was_refused = false;
        node->has_clock = false;
        node->was_here = registration->was_here;
        node->registered_ms = now.wall_ms;
    }
    node_poll_end(node);
    json_array_clear(node->commands);
    node->next_seq = 1;
    node->state = NODE_ALIVE;
    replace_text(&node->leaving, NULL);
    snprintf(node->boot_id, sizeof(node->boot_id), "%s", registration->boot_id);
    memcpy(node->key, registration->key, sizeof(node->key));
    memcpy(node->identity, registration->identity, sizeof(node->identity));
    rename_agent(registry, node);
    take_registration(node, registration);
    registry->cost += registration->cost - node->cost;
    node->cost = registration->cost;
    node->bytes = registration->bytes;
    node_seen(node, now);
    return node;
}

void node_seen(struct node *node, struct clock_time now)
{
    node->last_seen_ns = now.monotonic_ns;
    node->last_seen_ms = now.wall_ms;
}

void node_excuse(struct node *node, int64_t ns)
{
    node->last_seen_ns += ns;
}

/* Drop the commands that the agent has acknowledged. */
static void drop_acknowledged(struct node *node, int64_t after)
{
    while (json_array_size(node->commands) > 0 &&
           json_get_int(json_array_get(node->commands, 0), "seq", 0) <= after)
        json_array_remove(node->commands, 0);
}

void node_poll_end(struct node *node)
{
    node_commands *done = node->poll_done;
    void *arg = node->poll_arg;

    if (!done)
        return;
    node->poll_done = NULL;
    node->poll_arg = NULL;
    if (json_array_size(node->commands) > 0)
        done(arg, json_copy(node->commands));
    else
        done(arg, NULL);
}

void node_command(struct node *node, json_t *command)
{
    json_object_set_new(command, "seq", json_integer((json_int_t)node->next_seq++));
    json_array_append_new(node->commands, command);
    node_poll_end(node);
}

void node_poll(struct node *node, int64_t after, int64_t until_ns, node_commands *done,
               void *arg)
{
    node_poll_end(node);
    drop_acknowledged(node, after);
    node->poll_done = done;
    node->poll_arg = arg;
    node->poll_until_ns = until_ns;
    if (json_array_size(node->commands) > 0)
        node_poll_end(node);
}

static bool is_occupant(const struct node_occupant *o, const char *run, int case_no,
                        int attempt)
{
    return o->case_no == case_no && o->attempt == attempt && strcmp(o->run, run) == 0;
}

static bool hosts(const struct node *node, const char *run, int case_no, int attempt)
{
    for (size_t i = 0; i < node->n_occupants; i++)
        if (is_occupant(&node->occupants[i], run, case_no, attempt))
            return true;
    return false;
}

void node_occupy(struct node *node, const char *run, int case_no, int attempt,
                 bool shared)
{
    struct node_occupant *o;

    if (hosts(node, run, case_no, attempt))
        return;
    o = realloc(node->occupants, (node->n_occupants + 1) * sizeof(*o));
    if (!o)
        memory_out("a node");
    node->occupants = o;
    o += node->n_occupants++;
    snprintf(o->run, sizeof(o->run), "%s", run);
    o->case_no = case_no;
    o->attempt = attempt;
    o->shared = shared;
}

bool node_vacate(struct node *node, const char *run, int case_no, int attempt)
{
    for (size_t i = 0; i < node->n_occupants; i++) {
        if (is_occupant(&node->occupants[i], run, case_no, attempt)) {
            node->occupants[i] = node->occupants[--node->n_occupants];
            return true;
        }
    }
    return false;
}

bool node_is_free(const struct node *node, bool shared)
{
    if (node->state != NODE_ALIVE || node->leaving)
        return false;
    for (size_t i = 0; i < node->n_occupants; i++)
        if (!shared || !node->occupants[i].shared)
            return false;
    return true;
}

const json_t *node_backend(const struct node *node, const char *backend)
{
    return json_object_get(json_object_get(node->inventory, "backends"), backend);
}

long node_offers(const struct node *node, const char *backend, const char **why)
{
    const json_t *probe = node_backend(node, backend);
    const char *reason = NULL;
    long ranks = 0;

    if (!json_get_bool(probe, "available", false))
        reason = json_get_str(probe, "reason", "has no worker for this backend");
    else if (strcmp(backend, "nccl") == 0)
        ranks = (long)json_array_size(json_object_get(probe, "devices"));
    else
        ranks = node->ranks;
    if (!reason && ranks == 0)
        reason = "offers no ranks";
    if (why)
        *why = reason;
    return ranks;
}

bool node_supports(const struct node *node, const char *backend, const char *list,
                   const char *name)
{
    const json_t *names = json_object_get(node_backend(node, backend), list);

    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *text = json_string_value(json_array_get(names, i));

        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool node_has_labels(const struct node *node, json_t *wanted)
{
    const char *key;
    json_t *value;

    json_object_foreach (wanted, key, value) {
        const char *label = json_get_str(node->labels, key, NULL);

        if (!label || strcmp(label, json_string_value(value)) != 0)
            return false;
    }
    return true;
}

static const char *shown_state(const struct node *node)
{
    if (node->state == NODE_LOST)
        return "lost";
    if (node->state == NODE_LEFT || (node->leaving && node->n_occupants == 0))
        return "left";
    return node->n_occupants > 0 ? "busy" : "idle";
}

bool node_shares_ports(const struct node *a, const struct node *b)
{
    static const char *const members[] = {"machine", "net_namespace"};

    if (a->machine != b->machine)
        return false;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(a->inventory, members[i]);

        if (!value || !json_equal(value, json_object_get(b->inventory, members[i])))
            return false;
    }
    return true;
}

json_t *node_to_json(const struct node *node)
{
    char registered[CLOCK_TEXT_MAX], seen[CLOCK_TEXT_MAX];

    return json_pack("{s:s, s:s, s:s?, s:O, s:I, s:s?, s:s, s:s, s:s?, s:s?, s:O}",
                     "name", node->name, "state", shown_state(node), "group", node->group,
                     "labels", node->labels, "ranks", (json_int_t)node->ranks, "address",
                     node->advertise ? node->advertise : node->peer, "registered",
                     clock_format_ms(node->registered_ms, registered), "last_seen",
                     clock_format_ms(node->last_seen_ms, seen), "version", node->version,
                     "run", node->n_occupants ? node->occupants[0].run : NULL,
                     "inventory", node->inventory);
}
