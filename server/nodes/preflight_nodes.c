/* preflight_nodes.c - registered nodes, looked at before a run */
#include "server/nodes/preflight_nodes.h"

#include <stdlib.h>

#include "server/analysis/ceiling.h"

#define UNUSED_MAX 64 /* what is seen of no node any more, before it is looked for */

static const char *address_of(const struct node *node)
{
    return node->advertise ? node->advertise : node->peer;
}

static struct preflight_node describe(const struct node *node)
{
    return (struct preflight_node){.name = node->name,
                                   .version = node->version,
                                   .address = address_of(node),
                                   .inventory = node->inventory,
                                   .seen = node->seen,
                                   .has_clock = node->has_clock,
                                   .ahead_s = (double)node->ahead_ms / 1e3};
}

/* What no node has any more. */
static void forget_unused(struct node_registry *registry)
{
    const char *text;
    json_t *seen;
    void *next;

    json_object_foreach_safe(registry->seen, next, text, seen) if (seen->refcount == 1)
        json_object_del(registry->seen, text);
}

void preflight_nodes_see(struct node_registry *registry, struct node *node)
{
    const struct preflight_node described = describe(node);
    json_t *seen = preflight_see(&described), *known;
    char *text = json_dumps(seen, JSON_COMPACT);

    if (!registry->seen)
        registry->seen = json_object();
    known = text ? json_object_get(registry->seen, text) : NULL;
    if (!known && text && !json_object_set(registry->seen, text, seen))
        known = seen;
    json_decref(node->seen);
    node->seen = json_incref(known);
    json_decref(seen);
    free(text);
    if (json_object_size(registry->seen) > 2 * registry->count + UNUSED_MAX)
        forget_unused(registry);
}

json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    struct preflight_node *list = calloc(n + 1, sizeof(*list));
    json_t *verdict = NULL;

    for (size_t i = 0; list && i < n; i++)
        list[i] = describe(nodes[i]);
    if (list)
        verdict = preflight_judge(list, n, use, is_whole);
    free(list);
    return verdict;
}

json_t *ceiling_nodes(const struct node *const *nodes, const long *ranks, size_t n,
                      const struct preflight_use *use)
{
    struct ceiling_node *list = calloc(n + 1, sizeof(*list));
    json_t *verdict = NULL;

    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct ceiling_node){.inventory = nodes[i]->inventory,
                                        .address = address_of(nodes[i]),
                                        .ranks = (int)ranks[i]};
    if (list)
        verdict = ceiling_verdict(use->backend, list, n, use->env);
    free(list);
    return verdict;
}
