/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c - counts the agents that share a machine */
#include "server/nodes/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/cpu_list.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"

/* maximum number of a run's nodes on one machine that are compared */
#define COMPARED_MAX 64

struct place {
    uint64_t key;               /* hash of the node's machine */
    const char *machine, *cpus; /* borrowed */
    size_t index;
};

static const char *machine_of(const struct node *node)
{
    return json_get_str(node->inventory, "machine", "");
}

static int compare(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return strcmp(left->machine, right->machine);
}

/* Return the index of the first place with the key, or the index where it would be
 * inserted. */
static size_t find(const struct place *places, size_t n, uint64_t key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return true if two agents share a CPU. An agent that does not report its CPUs may use
 * all of them. */
static bool meet(const char *a, const char *b)
{
    return !cpu_list_is_valid(a) || !cpu_list_is_valid(b) || cpu_lists_meet(a, b);
}

/* Count a live node if it is on the machine of one of the places. In a large fleet hardly
 * any node is, so compare hashes first. */
static void count(const struct node *node, const struct place *places, size_t n,
                  int *counts)
{
    for (size_t i = find(places, n, node->machine);
         i < n && places[i].key == node->machine; i++)
        if (strcmp(places[i].machine, machine_of(node)) == 0)
            counts[places[i].index] +=
                meet(json_get_str(node->inventory, "cpus", ""), places[i].cpus);
}

/* If more than COMPARED_MAX nodes of a run are on one machine, assume that all of them
 * share CPUs, because comparing them takes quadratic time. Returns the number of
 * remaining places, which keep their order. */
static size_t drop_crowds(struct place *places, size_t n, int *counts)
{
    size_t kept = 0;

    for (size_t first = 0, behind; first < n; first = behind) {
        behind = first + 1;
        while (behind < n && strcmp(places[behind].machine, places[first].machine) == 0)
            behind++;
        for (size_t i = first; i < behind; i++)
            if (behind - first > COMPARED_MAX)
                counts[places[i].index] = (int)(behind - first);
            else
                places[kept++] = places[i];
    }
    return kept;
}

void neighbours_count(const struct node_registry *registry, struct node *const *nodes,
                      size_t n, int *counts)
{
    struct place *places = memory_zeroed(n + 1, sizeof(*places), "nodes of a case");
    size_t n_places = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_known = nodes[i] && *machine_of(nodes[i]);

        counts[i] = is_known ? 0 : 1;
        if (is_known)
            places[n_places++] =
                (struct place){nodes[i]->machine, machine_of(nodes[i]),
                               json_get_str(nodes[i]->inventory, "cpus", ""), i};
    }
    qsort(places, n_places, sizeof(*places), compare);
    n_places = drop_crowds(places, n_places, counts);
    for (size_t i = 0; i < registry->count; i++)
        if (registry->nodes[i]->state == NODE_ALIVE)
            count(registry->nodes[i], places, n_places, counts);
    free(places);
}
