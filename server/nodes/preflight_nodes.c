/* preflight_nodes.c - registered nodes, looked at before a run */
#include "server/nodes/preflight_nodes.h"

#include <stdlib.h>

#include "server/analysis/ceiling.h"

#define UNUSED_MAX 64 /* what no node has any more, before it is looked for */

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

static void forget_unused(struct node_seen_texts *texts)
{
    const char *text;
    json_t *seen;
    void *next;

    json_object_foreach_safe(texts->by_text, next, text, seen) if (seen->refcount == 1)
        json_object_del(texts->by_text, text);
    texts->n_kept = json_object_size(texts->by_text);
}

/* The one that is kept of those that are equal; takes seen over. A new reference, or NULL
 * when memory is out. */
static json_t *kept_of(struct node_seen_texts *texts, json_t *seen)
{
    char *text = json_dumps(seen, JSON_COMPACT);
    json_t *known = NULL;

    if (!texts->by_text)
        texts->by_text = json_object();
    if (json_object_size(texts->by_text) > 2 * texts->n_kept + UNUSED_MAX)
        forget_unused(texts);
    if (text)
        known = json_object_get(texts->by_text, text);
    if (!known && text && !json_object_set(texts->by_text, text, seen))
        known = seen;
    json_incref(known);
    json_decref(seen);
    free(text);
    return known;
}

void preflight_nodes_see(struct node_registry *registry, struct node *node)
{
    const struct preflight_node described = describe(node);
    json_t *seen = preflight_see(&described);

    for (size_t i = 0; i < json_array_size(seen); i++) {
        json_t *own = json_incref(json_array_get(seen, i));
        json_t *kept = kept_of(&registry->seen_by_check, own);

        if (kept)
            json_array_set_new(seen, i, kept);
    }
    json_decref(node->seen);
    node->seen = kept_of(&registry->seen, seen);
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
