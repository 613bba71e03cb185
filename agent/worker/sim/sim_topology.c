/* sim_topology.c - the nodes of a simulated case and what their links can carry */
#include "agent/worker/sim/sim_topology.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ONE_NODE "node"

static int find_node(const struct sim_topology *topology, const char *name, size_t len)
{
    for (int i = 0; i < topology->n_nodes; i++) {
        const char *known = topology->nodes[i].name;
        if (known && strlen(known) == len && memcmp(known, name, len) == 0)
            return i;
    }
    return -1;
}

/* Ranks stand node by node, so the node of the rank before is looked at first. */
static void place_ranks(struct sim_topology *topology, char *const *names,
                        const struct sim_params *params)
{
    int node = -1;

    for (int rank = 0; rank < topology->n_ranks; rank++) {
        const char *name = names ? names[rank] : ONE_NODE;
        if (node < 0 || strcmp(topology->nodes[node].name, name) != 0)
            node = find_node(topology, name, strlen(name));
        if (node < 0) {
            node = topology->n_nodes++;
            topology->nodes[node] = (struct sim_node){
                .name = name, .network_gbs = params->bandwidth_gbs, .across = 1};
        }
        topology->nodes[node].ranks++;
        topology->node_of[rank] = node;
        topology->intra_gbs[rank] = params->intra_bandwidth_gbs;
    }
}

static void slow_nodes(struct sim_topology *topology, const char *list)
{
    struct sim_item item;

    while (sim_list_next(&list, &item) > 0) {
        int node = find_node(topology, item.name, item.name_len);
        if (node < 0)
            continue;
        topology->nodes[node].network_gbs *= item.value;
        for (int rank = 0; rank < topology->n_ranks; rank++)
            if (topology->node_of[rank] == node)
                topology->intra_gbs[rank] *= item.value;
    }
}

static void slow_ranks(struct sim_topology *topology, const char *list)
{
    struct sim_item item;
    char *end;

    while (sim_list_next(&list, &item) > 0) {
        long rank = strtol(item.name, &end, 10);
        if (end == item.name + item.name_len && rank >= 0 && rank < topology->n_ranks)
            topology->intra_gbs[rank] *= item.value;
    }
}

static void wrong_interfaces(struct sim_topology *topology, const char *list)
{
    struct sim_item item;

    while (sim_list_next(&list, &item) > 0) {
        int node = find_node(topology, item.name, item.name_len);
        if (node >= 0)
            topology->nodes[node].network_gbs = item.value;
    }
}

/* "a-b": names may have hyphens themselves, so whatever parts are two nodes counts. */
static bool find_pair(const struct sim_topology *topology, const struct sim_item *item,
                      struct sim_slow_link *out)
{
    for (size_t i = 1; i + 1 < item->name_len; i++) {
        if (item->name[i] != '-')
            continue;
        out->a = find_node(topology, item->name, i);
        out->b = find_node(topology, item->name + i + 1, item->name_len - i - 1);
        if (out->a >= 0 && out->b >= 0) {
            out->factor = item->value;
            return true;
        }
    }
    return false;
}

static int slow_links(struct sim_topology *topology, const char *list)
{
    const char *rest = list;
    struct sim_item item;
    size_t n = 0;

    while (sim_list_next(&rest, &item) > 0)
        n++;
    topology->slow_links = calloc(n + 1, sizeof(*topology->slow_links));
    if (!topology->slow_links)
        return -1;
    while (sim_list_next(&list, &item) > 0)
        if (find_pair(topology, &item, &topology->slow_links[topology->n_slow_links]))
            topology->n_slow_links++;
    return 0;
}

int sim_topology_init(struct sim_topology *topology, int n_ranks, char *const *names,
                      const struct sim_params *params, struct error *err)
{
    size_t n = (size_t)n_ranks;

    memset(topology, 0, sizeof(*topology));
    topology->n_ranks = n_ranks;
    topology->node_of = calloc(n, sizeof(*topology->node_of));
    topology->intra_gbs = calloc(n, sizeof(*topology->intra_gbs));
    topology->nodes = calloc(n, sizeof(*topology->nodes));
    if (!topology->node_of || !topology->intra_gbs || !topology->nodes)
        goto fail;
    place_ranks(topology, names, params);
    wrong_interfaces(topology, params->wrong_interfaces);
    slow_nodes(topology, params->slow_nodes);
    slow_ranks(topology, params->slow_ranks);
    if (slow_links(topology, params->slow_links))
        goto fail;
    return 0;
fail:
    sim_topology_release(topology);
    return error_set(err, ERROR_MEMORY, "topology: out of memory");
}

/* Whether the group has ranks on the node and on others. */
static bool leaves_node(const struct sim_topology *world,
                        const struct split_groups *groups, int group, int node)
{
    bool is_here = false, is_elsewhere = false;

    for (int rank = 0; rank < world->n_ranks; rank++) {
        if (groups->of[rank] == group) {
            is_here = is_here || world->node_of[rank] == node;
            is_elsewhere = is_elsewhere || world->node_of[rank] != node;
        }
    }
    return is_here && is_elsewhere;
}

static int count_leaving(const struct sim_topology *world,
                         const struct split_groups *groups, int node)
{
    int n = 0;

    for (int group = 0; group < groups->n; group++)
        n += leaves_node(world, groups, group, node);
    return n > 0 ? n : 1;
}

/* new_of: by node of the world, its number in the group's topology, or -1. */
static void select_links(const struct sim_topology *world, const int *new_of,
                         struct sim_topology *out)
{
    for (size_t i = 0; i < world->n_slow_links; i++) {
        const struct sim_slow_link *link = &world->slow_links[i];
        if (new_of[link->a] >= 0 && new_of[link->b] >= 0) {
            out->slow_links[out->n_slow_links++] =
                (struct sim_slow_link){new_of[link->a], new_of[link->b], link->factor};
        }
    }
}

static void select_ranks(const struct sim_topology *world,
                         const struct split_groups *groups, int group, int *new_of,
                         struct sim_topology *out)
{
    for (int node = 0; node < world->n_nodes; node++)
        new_of[node] = -1;
    for (int rank = 0; rank < world->n_ranks; rank++) {
        int node = world->node_of[rank], place = groups->place[rank];
        if (groups->of[rank] != group)
            continue;
        if (new_of[node] < 0) {
            struct sim_node *added = &out->nodes[out->n_nodes];
            *added = world->nodes[node];
            added->ranks = 0;
            added->network_gbs /= count_leaving(world, groups, node);
            new_of[node] = out->n_nodes++;
        }
        out->nodes[new_of[node]].ranks++;
        out->node_of[place] = new_of[node];
        out->intra_gbs[place] = world->intra_gbs[rank];
    }
}

int sim_topology_select(const struct sim_topology *world,
                        const struct split_groups *groups, int group,
                        struct sim_topology *out, struct error *err)
{
    size_t n = (size_t)groups->sizes[group];
    int *new_of = calloc((size_t)world->n_nodes, sizeof(*new_of));

    memset(out, 0, sizeof(*out));
    out->n_ranks = (int)n;
    out->node_of = calloc(n, sizeof(*out->node_of));
    out->intra_gbs = calloc(n, sizeof(*out->intra_gbs));
    out->nodes = calloc(n, sizeof(*out->nodes));
    out->slow_links = calloc(world->n_slow_links + 1, sizeof(*out->slow_links));
    if (!new_of || !out->node_of || !out->intra_gbs || !out->nodes || !out->slow_links) {
        free(new_of);
        sim_topology_release(out);
        return error_set(err, ERROR_MEMORY, "topology: out of memory");
    }
    select_ranks(world, groups, group, new_of, out);
    select_links(world, new_of, out);
    free(new_of);
    return 0;
}

void sim_topology_release(struct sim_topology *topology)
{
    free(topology->node_of);
    free(topology->intra_gbs);
    free(topology->nodes);
    free(topology->slow_links);
    memset(topology, 0, sizeof(*topology));
}

double sim_topology_link(const struct sim_topology *topology, int a, int b)
{
    const struct sim_node *from = &topology->nodes[a], *to = &topology->nodes[b];
    double gbs =
        from->network_gbs < to->network_gbs ? from->network_gbs : to->network_gbs;

    if (from->rack != to->rack)
        gbs *= from->across < to->across ? from->across : to->across;
    for (size_t i = 0; i < topology->n_slow_links; i++) {
        const struct sim_slow_link *link = &topology->slow_links[i];
        if ((link->a == a && link->b == b) || (link->a == b && link->b == a))
            gbs *= link->factor;
    }
    return gbs;
}

static bool differs(double a, double b)
{
    return a < b || a > b;
}

json_t *sim_topology_faults(const struct sim_topology *topology,
                            const struct sim_params *params)
{
    json_t *faults = json_array();

    for (int i = 0; i < topology->n_nodes; i++) {
        const struct sim_node *node = &topology->nodes[i];
        if (differs(node->network_gbs, params->bandwidth_gbs)) {
            json_array_append_new(faults, json_pack("{s:s, s:f}", "node", node->name,
                                                    "network_gbs", node->network_gbs));
        }
        if (differs(node->across, 1)) {
            json_array_append_new(faults, json_pack("{s:s, s:f}", "node", node->name,
                                                    "across_racks", node->across));
        }
    }
    for (int rank = 0; rank < topology->n_ranks; rank++) {
        if (differs(topology->intra_gbs[rank], params->intra_bandwidth_gbs)) {
            json_array_append_new(faults,
                                  json_pack("{s:i, s:f}", "rank", rank, "intra_gbs",
                                            topology->intra_gbs[rank]));
        }
    }
    for (size_t i = 0; i < topology->n_slow_links; i++) {
        const struct sim_slow_link *link = &topology->slow_links[i];
        json_array_append_new(
            faults, json_pack("{s:[s, s], s:f}", "link", topology->nodes[link->a].name,
                              topology->nodes[link->b].name, "factor", link->factor));
    }
    return faults;
}
