/* SPDX-License-Identifier: Apache-2.0 */
/* run_nodes.c - finds the nodes of a run and of its cases */
#include "server/runs/run_nodes.h"

#include <string.h>

struct run_nodes run_case_nodes(const struct run *run, const struct run_case *c)
{
    return c->on.items ? c->on : run->pool;
}

const struct run_node *run_nodes_find(const struct run_nodes *nodes, const char *name)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (strcmp(nodes->items[i].name, name) == 0)
            return &nodes->items[i];
    return NULL;
}

const struct run_node *run_nodes_of_rank(const struct run_nodes *nodes, int rank)
{
    size_t low = 0, high = nodes->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rank < nodes->items[middle].first_rank + nodes->items[middle].ranks)
            high = middle;
        else
            low = middle + 1;
    }
    return low < nodes->n ? &nodes->items[low] : NULL;
}

json_t *run_nodes_names(const struct run_nodes *nodes)
{
    json_t *names = json_array();

    for (size_t i = 0; i < nodes->n; i++)
        json_array_append_new(names, json_string(nodes->items[i].name));
    return names;
}
