/* node_claim.c - whether an agent may have a node's name */
#include "server/runs/node_claim.h"

#include <stdio.h>

#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "common/base/memory.h"
#include "server/nodes/node.h"
#include "server/runs/cases.h"
#include "server/runs/scheduler_state.h"
#include "server/store/store.h"

#define VALUE_BYTES ((size_t)64)
#define COST_MAX ((size_t)256 << 20) /* of all registrations in memory */
#define SECOND_NS INT64_C(1000000000)

int node_claim_identify(const struct scheduler *scheduler,
                        struct node_registration *registration, const char *key,
                        struct error *err)
{
    char text[512];

    snprintf(text, sizeof(text), "%s\n%s\n%s", registration->name, registration->boot_id,
             key);
    if (digest_text(key, registration->key) || digest_text(text, registration->identity))
        memory_out("a digest");
    if (store_acked(scheduler->services.store, registration->identity,
                    &registration->acked, err))
        return -1;
    registration->was_here = registration->acked >= 0;
    return 0;
}

static long seconds_until(int64_t then_ns, int64_t now_ns)
{
    return then_ns > now_ns ? (long)((then_ns - now_ns) / SECOND_NS) + 1 : 1;
}

static int refuse_held(const struct scheduler *scheduler, const struct node *node,
                       int64_t now_ns, long *retry_after_s, struct error *err)
{
    double silent_s = (double)(now_ns - node->last_seen_ns) / 1e9;

    /* A live one nearly always has a request here. */
    if (node->poll_done)
        return error_set(err, ERROR_CONFLICT,
                         "node name '%s' is held by a live agent, last heard of %.1f s "
                         "ago; choose another with --name, or stop that agent",
                         node->name, silent_s);
    *retry_after_s = seconds_until(
        node->last_seen_ns + scaled_s_to_ns(scheduler_lease_s(scheduler)), now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is held by an agent that was last heard of %.1f s "
                     "ago; if it is gone, the name is free in %ld s",
                     node->name, silent_s, *retry_after_s);
}

int node_claim_check(const struct scheduler *scheduler,
                     const struct node_registration *registration, int64_t now_ns,
                     long *retry_after_s, struct error *err)
{
    const struct node *node = node_find(&scheduler->nodes, registration->name);
    int64_t until_ns = cases_awaits_nodes_until_ns(scheduler->cases);
    bool is_recovering = now_ns < until_ns;

    *retry_after_s = 0;
    if (node && node->state == NODE_ALIVE) {
        if (digest_equal(node->key, registration->key))
            return 0;
        if (!is_recovering || !registration->was_here || node->was_here)
            return refuse_held(scheduler, node, now_ns, retry_after_s, err);
        log_warn("node name '%s' goes back to the agent that had it before the server's "
                 "restart",
                 node->name);
        return 0;
    }
    /* Does a case go on there since before, whose agent is not back? */
    if (!is_recovering || registration->was_here || node ||
        !cases_are_on(scheduler->cases, registration->name))
        return 0;
    *retry_after_s = seconds_until(until_ns, now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is kept for the agent that had it before the "
                     "server's restart, which may come back for %ld s",
                     registration->name, *retry_after_s);
}

void node_claim_drop(struct scheduler *scheduler, const struct node *node)
{
    struct store_write *write = store_write_create();

    if (write)
        store_write_unack(write, node->identity);
    store_submit(scheduler->services.store, write, false, NULL, NULL);
}

/* ---- Room for more ---- */

int scheduler_forget_node(struct scheduler *scheduler, const char *name,
                          struct error *err)
{
    struct node *node = node_find(&scheduler->nodes, name);

    if (!node)
        return error_set(err, ERROR_NOT_FOUND, "there is no node %s", name);
    if (node->state == NODE_ALIVE)
        return error_set(err, ERROR_CONFLICT,
                         "node %s is alive: only one that is lost or has left can be "
                         "forgotten; stop its agent first",
                         name);
    if (node->n_batches > 0)
        return error_set(err, ERROR_UNAVAILABLE, "events of node %s are being stored",
                         name);
    cases_forget(scheduler->cases, node);
    log_info("node %s is forgotten", name);
    node_claim_drop(scheduler, node);
    node_remove(&scheduler->nodes, node);
    wake_queue(scheduler->services.wake);
    return 0;
}

/* A parsed value takes some 64 bytes beside its text. */
static size_t cost_of(const json_t *value)
{
    size_t cost = VALUE_BYTES;
    const char *key;
    json_t *item;

    for (size_t i = 0; i < json_array_size(value); i++)
        cost += cost_of(json_array_get(value, i));
    json_object_foreach ((json_t *)(uintptr_t)value, key, item)
        cost += cost_of(item) + VALUE_BYTES;
    return cost;
}

/* The node that left longest ago, else the one that was lost first, but never `own`; NULL
 * when all are alive. */
static const struct node *first_gone(const struct node_registry *registry,
                                     const struct node *own)
{
    const struct node *first = NULL;

    for (size_t i = 0; i < registry->count; i++) {
        const struct node *node = registry->nodes[i];

        if (node->state == NODE_ALIVE || node->n_batches > 0 || node == own)
            continue;
        if (!first || node->state > first->state ||
            (node->state == first->state && node->last_seen_ns < first->last_seen_ns))
            first = node;
    }
    return first;
}

static bool is_crowded(const struct scheduler *scheduler, const struct node *own)
{
    return !own && scheduler->nodes.count >= (size_t)scheduler->config.max_nodes;
}

static bool is_heavy(const struct scheduler *scheduler,
                     const struct node_registration *registration, const struct node *own)
{
    return scheduler->nodes.cost + registration->cost - (own ? own->cost : 0) > COST_MAX;
}

int node_claim_room(struct scheduler *scheduler, struct node_registration *registration,
                    const json_t *body, size_t bytes, struct error *err)
{
    const struct node_registry *registry = &scheduler->nodes;
    const struct node *own = node_find(registry, registration->name), *gone;

    registration->bytes = bytes;
    registration->cost = bytes + cost_of(body);
    while ((is_crowded(scheduler, own) || is_heavy(scheduler, registration, own)) &&
           (gone = first_gone(registry, own))) {
        char name[256];

        snprintf(name, sizeof(name), "%s", gone->name);
        if (scheduler_forget_node(scheduler, name, err))
            return -1;
    }
    if (is_crowded(scheduler, own))
        return error_set(err, ERROR_LIMIT,
                         "the server knows %zu nodes that are alive, as many as it may "
                         "(--max-nodes)",
                         registry->count);
    if (is_heavy(scheduler, registration, own))
        return error_set(err, ERROR_LIMIT,
                         "the inventories of all nodes take %zu MiB, as much as they may",
                         registry->cost >> 20);
    return 0;
}

int node_claim_check_key(const struct node *node, const char *key, struct error *err)
{
    char digest[DIGEST_TEXT_SIZE];

    if (digest_text(key ? key : "", digest))
        memory_out("a digest");
    if (digest_equal(digest, node->key))
        return 0;
    return error_set(err, ERROR_DENIED,
                     "the header Ringbench-Agent-Key has not the key with which %s "
                     "registered",
                     node->name);
}
