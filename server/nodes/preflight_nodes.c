/* preflight_nodes.c - registered nodes, looked at before a run */
#include "server/nodes/preflight_nodes.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/analysis/ceiling.h"

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
                                   .has_clock = node->has_clock,
                                   .ahead_s = (double)node->ahead_ms / 1e3};
}

json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    struct preflight_node *list = memory_zeroed(n + 1, sizeof(*list), "a preflight");
    json_t *verdict;

    for (size_t i = 0; i < n; i++)
        list[i] = describe(nodes[i]);
    verdict = preflight_judge(list, n, use, is_whole);
    free(list);
    return verdict;
}

json_t *ceiling_nodes(const struct node *const *nodes, const long *ranks, size_t n,
                      const struct preflight_use *use)
{
    struct ceiling_node *list = memory_zeroed(n + 1, sizeof(*list), "a preflight");
    json_t *verdict;

    for (size_t i = 0; i < n; i++)
        list[i] = (struct ceiling_node){.inventory = nodes[i]->inventory,
                                        .address = address_of(nodes[i]),
                                        .ranks = (int)ranks[i]};
    verdict = ceiling_verdict(use->backend, list, n, use->env);
    free(list);
    return verdict;
}
