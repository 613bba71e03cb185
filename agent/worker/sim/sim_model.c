/* SPDX-License-Identifier: Apache-2.0 */
/* sim_model.c - a model of the time that a collective takes */
#include "agent/worker/sim/sim_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/worker/sim/noise.h"
#include "common/base/memory.h"

#define RACK "rack-"

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* ---- Nodes and links ---- */

/* The ranks of a node are consecutive. */
static void place_ranks(struct sim_model *model, const struct case_file *file, int group,
                        sim_rack_fn *rack, const void *arg)
{
    const struct split_groups *groups = &file->groups;
    const char *before = NULL;

    for (int i = 0; i < groups->n_ranks; i++) {
        const char *name = file->nodes ? file->nodes[i] : "node";

        if (groups->of[i] != group)
            continue;
        if (!before || strcmp(before, name) != 0)
            model->nodes[model->n_nodes++] =
                (struct sim_node){.name = name,
                                  .rack = rack ? rack(arg, name) : 0,
                                  .factor = 1,
                                  .rack_factor = 1};
        model->node_of[groups->place[i]] = model->n_nodes - 1;
        before = name;
    }
}

static int find_node(const struct sim_model *model, const char *name, size_t len)
{
    for (int i = 0; i < model->n_nodes; i++)
        if (strlen(model->nodes[i].name) == len &&
            memcmp(model->nodes[i].name, name, len) == 0)
            return i;
    return -1;
}

/* Add a link "a/b" with its factor. False if the place is not a link. */
static bool add_link(struct sim_model *model, const struct sim_slow *item)
{
    const char *slash = memchr(item->place, '/', item->place_len);
    size_t len = slash ? (size_t)(slash - item->place) : 0;
    int a, b;

    if (!slash)
        return false;
    a = find_node(model, item->place, len);
    b = find_node(model, slash + 1, item->place_len - len - 1);
    if (a >= 0 && b >= 0)
        model->links[model->n_links++] = (struct sim_link){a, b, item->factor};
    return true;
}

static void slow_down(struct sim_model *model, const struct sim_slow *item)
{
    bool is_all = item->place_len == 1 && *item->place == '*';
    char rack[32];

    if (add_link(model, item))
        return;
    for (int i = 0; i < model->n_nodes; i++) {
        struct sim_node *node = &model->nodes[i];

        snprintf(rack, sizeof(rack), RACK "%d", node->rack);
        if (is_all || (strlen(node->name) == item->place_len &&
                       memcmp(node->name, item->place, item->place_len) == 0))
            node->factor *= item->factor;
        else if (node->rack > 0 && strlen(rack) == item->place_len &&
                 memcmp(rack, item->place, item->place_len) == 0)
            node->rack_factor *= item->factor;
    }
}

static void read_slow(struct sim_model *model, long number)
{
    const char *list = model->params->slow, *rest = list;
    struct sim_slow item;
    size_t n = 0;

    while (sim_slow_next(&rest, &item) > 0)
        n++;
    model->links = memory_zeroed(n + 1, sizeof(*model->links), "links");
    while (sim_slow_next(&list, &item) > 0)
        if ((double)number >= item.from_case && (double)number <= item.last)
            slow_down(model, &item);
}

static double link_factor(const struct sim_model *model, int a, int b)
{
    const struct sim_node *from = &model->nodes[a], *to = &model->nodes[b];
    double factor = lesser(from->factor, to->factor);

    if (from->rack != to->rack)
        factor *= lesser(from->rack_factor, to->rack_factor);
    for (int i = 0; i < model->n_links; i++) {
        const struct sim_link *link = &model->links[i];
        if ((link->a == a && link->b == b) || (link->a == b && link->b == a))
            factor *= link->factor;
    }
    return factor;
}

/* Find the slowest link of each algorithm. The ring follows the order of nodes. Node i's
 * parent in the tree is (i - 1) / 2. Point-to-point messages use all links. */
static void find_slowest(struct sim_model *model)
{
    int n = model->n_nodes;
    double *ring = &model->factor[SIM_RING], *tree = &model->factor[SIM_TREE];

    *ring = *tree = model->nodes[0].factor;
    for (int i = 0; i < n; i++) {
        *ring = lesser(*ring, link_factor(model, i, (i + 1) % n));
        *tree = lesser(*tree, link_factor(model, i, i > 0 ? (i - 1) / 2 : 0));
    }
    model->factor[SIM_P2P] = lesser(*ring, *tree);
    for (int i = 0; i < model->n_links; i++)
        model->factor[SIM_P2P] =
            lesser(model->factor[SIM_P2P],
                   link_factor(model, model->links[i].a, model->links[i].b));
}

void sim_model_init(struct sim_model *model, const struct sim_params *params,
                    const struct case_file *file, int group, sim_rack_fn *rack,
                    const void *arg)
{
    size_t n = (size_t)file->groups.sizes[group];
    uint64_t seed = params->seed >= 0 ? (uint64_t)params->seed : file->seed;
    uint64_t number = (uint64_t)file->number;

    *model = (struct sim_model){.params = params, .n_ranks = (int)n};
    model->node_of = memory_zeroed(n, sizeof(*model->node_of), "ranks");
    model->nodes = memory_zeroed(n, sizeof(*model->nodes), "nodes");
    place_ranks(model, file, group, rack, arg);
    read_slow(model, file->number);
    find_slowest(model);
    model->case_factor = noise_of_case(params, seed, number);
    model->seed = noise_split(noise_seed(params, seed, number), (uint64_t)group);
}

void sim_model_release(struct sim_model *model)
{
    free(model->node_of);
    free(model->nodes);
    free(model->links);
}

/* ---- Times ---- */

double sim_model_bytes(const struct sim_model *model, const struct backend_call *call)
{
    bool is_flat = collective_facts(call->kind)->shape == SHAPE_FLAT;
    double count = call->traffic ? (double)call->traffic->most : (double)call->count;

    return count * (double)dtype_size(call->dtype) *
           (is_flat || call->traffic ? 1 : model->n_ranks);
}

static bool is_ringed(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_BROADCAST ||
           kind == COLLECTIVE_REDUCE;
}

/* Return the number of sequential steps, tree levels or messages. */
static double steps_of(enum collective_kind kind, enum sim_algorithm algorithm, int n)
{
    if (algorithm == SIM_TREE)
        return 2 * ceil(log2(n));
    if (kind == COLLECTIVE_HYPERCUBE)
        return ceil(log2(n));
    if (kind == COLLECTIVE_SENDRECV)
        return n > 1;
    return (kind == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1);
}

static double us_of(const struct sim_model *model, enum collective_kind kind,
                    double bytes, enum sim_algorithm algorithm, double factor)
{
    const struct sim_params *params = model->params;
    int line = algorithm == SIM_TREE ? SIM_TREE : SIM_RING, n = model->n_ranks;
    /* a single rank copies its data */
    double share = n > 1 ? collective_bus_factor(kind, n) : 1;

    if (factor <= 0)
        return HUGE_VAL;
    return params->base_us + steps_of(kind, algorithm, n) * params->step_us[line] +
           share * bytes / (1000 * params->gbs[line] * factor);
}

double sim_model_us(const struct sim_model *model, enum collective_kind kind,
                    double bytes, enum sim_algorithm algorithm)
{
    bool is_possible = algorithm == SIM_TREE ? kind == COLLECTIVE_ALL_REDUCE
                                             : is_ringed(kind) == (algorithm == SIM_RING);

    return is_possible ? us_of(model, kind, bytes, algorithm, model->factor[algorithm])
                       : HUGE_VAL;
}

struct sim_estimate sim_model_choose(const struct sim_model *model,
                                     enum collective_kind kind, double bytes)
{
    unsigned allowed = model->params->algorithms;
    struct sim_estimate best = {.algorithm = is_ringed(kind) ? SIM_RING : SIM_P2P};

    best.us = sim_model_us(model, kind, bytes, best.algorithm);
    best.is_unrequested = is_ringed(kind) && !(allowed & 1u << SIM_RING);
    if (kind == COLLECTIVE_ALL_REDUCE && allowed & 1u << SIM_TREE) {
        double us = sim_model_us(model, kind, bytes, SIM_TREE);

        if (us < best.us || best.is_unrequested)
            best = (struct sim_estimate){SIM_TREE, false, us};
    }
    return best;
}

void sim_model_describe(const struct sim_estimate *estimate, struct choice *out)
{
    snprintf(out->algo, sizeof(out->algo), "%s", sim_algorithm_name(estimate->algorithm));
    snprintf(out->by, sizeof(out->by), "model");
    out->is_unrequested = estimate->is_unrequested;
}

double sim_model_rank_us(const struct sim_model *model, enum collective_kind kind,
                         double bytes, const struct sim_estimate *estimate, int rank)
{
    int n = model->n_ranks, own = model->node_of[rank];

    if (kind != COLLECTIVE_SENDRECV || estimate->us >= HUGE_VAL)
        return estimate->us;
    double next = link_factor(model, own, model->node_of[(rank + 1) % n]);
    double before = link_factor(model, model->node_of[(rank + n - 1) % n], own);

    return us_of(model, kind, bytes, SIM_P2P, lesser(next, before));
}

bool sim_model_hangs(const struct sim_model *model, int rank)
{
    return model->nodes[model->node_of[rank]].factor <= 0;
}
