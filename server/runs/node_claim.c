/* SPDX-License-Identifier: Apache-2.0 */
/* node_claim.c - decides whether an agent may use a node's name */
#include "server/runs/node_claim.h"

#include <stdio.h>

#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "common/base/memory.h"
#include "server/nodes/node.h"
#include "server/runs/cases.h"
#include "server/store/store.h"

#define VALUE_BYTES ((size_t)64)
#define COST_MAX ((size_t)256 << 20) /* limit for all registrations in memory */
#define SECOND_NS INT64_C(1000000000)

int node_claim_identify(struct store *store, struct node_registration *registration,
                        const char *key, struct error *err)
{
    char text[512];

    snprintf(text, sizeof(text), "%s\n%s\n%s", registration->name, registration->boot_id,
             key);
    digest_text(key, registration->key);
    digest_text(text, registration->identity);
    if (store_acked(store, registration->identity, &registration->acked, err))
        return -1;
    registration->was_here = registration->acked >= 0;
    return 0;
}

static long seconds_until(int64_t then_ns, int64_t now_ns)
{
    return then_ns > now_ns ? (long)((then_ns - now_ns) / SECOND_NS) + 1 : 1;
}

static int refuse_held(const struct node_claim *claim, const struct node *node,
                       long *retry_after_s, struct error *err)
{
    double silent_s = (double)(claim->now_ns - node->last_seen_ns) / 1e9;

    /* An open poll means that the agent is alive, so its name will not become free
     * soon. */
    if (node->poll_done)
        return error_set(
            err, ERROR_CONFLICT,
            "node name '%s' is held by a live agent, whose last request came %.1f s ago; "
            "choose another with --name, or stop that agent",
            node->name, silent_s);
    *retry_after_s =
        seconds_until(node->last_seen_ns + scaled_s_to_ns(claim->lease_s), claim->now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is held by an agent whose last request came %.1f s "
                     "ago; if that agent has ended, the name is free in %ld s",
                     node->name, silent_s, *retry_after_s);
}

int node_claim_check(const struct node_claim *claim,
                     const struct node_registration *registration, long *retry_after_s,
                     struct error *err)
{
    const struct node *node = node_find(claim->nodes, registration->name);
    int64_t until_ns = cases_awaits_nodes_until_ns(claim->cases);
    bool is_recovering = claim->now_ns < until_ns;

    *retry_after_s = 0;
    if (node && node->state == NODE_ALIVE) {
        if (digest_equal(node->key, registration->key))
            return 0;
        if (!is_recovering || !registration->was_here || node->was_here)
            return refuse_held(claim, node, retry_after_s, err);
        log_warn("node name '%s' is assigned to the agent that used it before the "
                 "server's restart",
                 node->name);
        return 0;
    }
    /* After a server restart, reserve the name of a node with a running case for the
     * agent that started the case. */
    if (!is_recovering || registration->was_here || node ||
        !cases_are_on(claim->cases, registration->name))
        return 0;
    *retry_after_s = seconds_until(until_ns, claim->now_ns);
    return error_set(err, ERROR_CONFLICT,
                     "node name '%s' is reserved for the agent that used it before the "
                     "server's restart, for another %ld s",
                     registration->name, *retry_after_s);
}

void node_claim_drop(struct store *store, const struct node *node)
{
    struct store_write *write = store_write_create();

    store_write_unack(write, node->identity);
    store_submit(store, write, false, NULL, NULL);
}

/* ---- Space in the registry ---- */

/* Estimate the memory of a parsed value, without its text: about 64 bytes for each value
 * or key. */
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

/* Return a node to forget: the node that left longest ago or, if none has left, the node
 * that was lost first. Skip `own` and nodes whose events are being stored. Returns NULL
 * if there is no such node. */
static struct node *first_gone(const struct node_registry *registry,
                               const struct node *own)
{
    struct node *first = NULL;

    for (size_t i = 0; i < registry->count; i++) {
        struct node *node = registry->nodes[i];

        if (node->state == NODE_ALIVE || node->n_batches > 0 || node == own)
            continue;
        if (!first || node->state > first->state ||
            (node->state == first->state && node->last_seen_ns < first->last_seen_ns))
            first = node;
    }
    return first;
}

void node_claim_weigh(struct node_registration *registration, const json_t *body,
                      size_t bytes)
{
    registration->bytes = bytes;
    registration->cost = bytes + cost_of(body);
}

int node_claim_room(const struct node_registry *nodes, long max_nodes,
                    const struct node_registration *registration, struct node **gone,
                    struct error *err)
{
    const struct node *own = node_find(nodes, registration->name);
    bool is_crowded = !own && nodes->count >= (size_t)max_nodes;
    bool is_heavy = nodes->cost + registration->cost - (own ? own->cost : 0) > COST_MAX;

    *gone = is_crowded || is_heavy ? first_gone(nodes, own) : NULL;
    if (*gone)
        return 1;
    if (is_crowded)
        return error_set(err, ERROR_LIMIT,
                         "%zu nodes are alive, which is the limit (--max-nodes)",
                         nodes->count);
    if (is_heavy)
        return error_set(
            err, ERROR_LIMIT,
            "the inventories of all nodes take %zu MiB, which reaches the limit",
            nodes->cost >> 20);
    return 0;
}

int node_claim_check_key(const struct node *node, const char *key, struct error *err)
{
    char digest[DIGEST_TEXT_SIZE];

    digest_text(key ? key : "", digest);
    if (digest_equal(digest, node->key))
        return 0;
    return error_set(err, ERROR_DENIED,
                     "the key in the header Ringbench-Agent-Key is not the one with "
                     "which %s registered",
                     node->name);
}
