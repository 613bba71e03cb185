/* run_nodes.c - the nodes of a run */
#include "server/runs/run_nodes.h"

#include <string.h>

const struct run_node *run_find_node(const struct run *run, const char *name)
{
    for (size_t i = 0; i < run->n_nodes; i++)
        if (strcmp(run->nodes[i].name, name) == 0)
            return &run->nodes[i];
    return NULL;
}

const struct run_node *run_rank_node(const struct run *run, int rank)
{
    size_t low = 0, high = run->n_nodes;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rank < run->nodes[middle].first_rank + run->nodes[middle].ranks)
            high = middle;
        else
            low = middle + 1;
    }
    return low < run->n_nodes ? &run->nodes[low] : NULL;
}
