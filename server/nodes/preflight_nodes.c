/* preflight_nodes.c - registered nodes, looked at before a run */
#include "server/nodes/preflight_nodes.h"

#include <stdlib.h>

#include "server/analysis/ceiling.h"

static const char *address_of(const struct node *node)
{
    return node->advertise ? node->advertise : node->peer;
}

json_t *preflight_nodes(const struct node *const *nodes, size_t n,
                        const struct preflight_use *use, bool is_whole)
{
    struct preflight_node *list = calloc(n + 1, sizeof(*list));
    json_t *verdict = NULL;

    for (size_t i = 0; list && i < n; i++)
        list[i] = (struct preflight_node){.name = nodes[i]->name,
                                          .version = nodes[i]->version,
                                          .address = address_of(nodes[i]),
                                          .inventory = nodes[i]->inventory,
                                          .has_clock = nodes[i]->has_clock,
                                          .ahead_s = (double)nodes[i]->ahead_ms / 1e3};
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
