/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_nodes.c - runs preflight checks on registered nodes */
#include "server/nodes/preflight_nodes.h"

#include <stdlib.h>

#include "common/base/json_util.h"
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

json_t *preflight_snapshot(const struct node *const *nodes, size_t n)
{
    json_t *snapshot = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct preflight_node node = describe(nodes[i]);

        json_array_append_new(
            snapshot,
            json_pack("{s:s, s:s?, s:s?, s:O?, s:b, s:f}", "name", node.name, "version",
                      node.version, "address", node.address, "inventory", node.inventory,
                      "has_clock", node.has_clock, "ahead_s", node.ahead_s));
    }
    return snapshot;
}

json_t *preflight_of_snapshot(const json_t *snapshot, const char *of)
{
    const struct preflight_use use = {.of = of};
    size_t n = json_array_size(snapshot), i;
    struct preflight_node *list = memory_zeroed(n + 1, sizeof(*list), "a preflight");
    json_t *verdict, *node;

    json_array_foreach (snapshot, i, node)
        list[i] =
            (struct preflight_node){.name = json_get_str(node, "name", ""),
                                    .version = json_get_str(node, "version", NULL),
                                    .address = json_get_str(node, "address", NULL),
                                    .inventory = json_object_get(node, "inventory"),
                                    .has_clock = json_get_bool(node, "has_clock", false),
                                    .ahead_s = json_get_num(node, "ahead_s", 0)};
    verdict = preflight_judge(list, n, &use, true);
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
