/* bisect.c - the slow nodes of many: groups of about sqrt(n) nodes at once, then the
 * halves of those that are slow, filled up with nodes of groups that are not, until one
 * node is left, which is measured twice more among others that are known to be good.
 * Groups have one size throughout, since figures of other sizes say something else. */
#include <stdlib.h>

#include "common/base/order_stat.h"
#include "server/plan/patterns.h"

/* A group is slow that is so much slower than most. */
#define SLOW_BELOW 0.9

/* How often a single suspect is measured among good ones. */
#define CONFIRMATIONS 2

#define CLEAR (-1)
#define UNKNOWN (-2)

struct bisection {
    const struct plan_pool *pool;
    size_t size; /* of a group */
    int *set;    /* of each node: the suspects that it is one of, CLEAR or UNKNOWN */
    int n_sets;
    int *confirmed; /* of each node: how often it was slow with good ones alone */
    bool *is_used;  /* of each node, in the round that is being made */
};

static size_t group_size(size_t n)
{
    size_t size = 2;

    while ((size + 1) * (size + 1) <= n)
        size++;
    return size;
}

struct plan_size bisect_size(size_t n)
{
    size_t size = group_size(n);

    return (struct plan_size){.rounds = n % size ? 2 : 1,
                              .groups = (n + size - 1) / size,
                              .smallest = size,
                              .largest = size};
}

static bool is_lost(const struct bisection *b, size_t node)
{
    return b->pool->is_lost && b->pool->is_lost[node];
}

/* ---- What the groups so far say ---- */

/* What most groups reach; 0: none was measured. */
static double usual_figure(const struct bisection *b)
{
    const struct plan_pool *pool = b->pool;
    double *figures = malloc((pool->n_past + 1) * sizeof(*figures)), usual = 0.0;
    size_t n = 0;

    for (size_t i = 0; figures && i < pool->n_past; i++)
        if (pool->past[i].figure > 0.0)
            figures[n++] = pool->past[i].figure;
    if (n > 0) {
        order_stat_sort(figures, n);
        usual = figures[n / 2];
    }
    free(figures);
    return usual;
}

/* Its nodes that are not known to be good stay, or become, one set of suspects. */
static void suspect(struct bisection *b, const struct plan_past *group)
{
    size_t suspects = 0;

    for (size_t i = 0; i < group->n; i++)
        suspects += b->set[group->nodes[i]] != CLEAR;
    for (size_t i = 0; i < group->n; i++) {
        int node = group->nodes[i];

        if (b->set[node] == CLEAR)
            continue;
        b->set[node] = b->n_sets;
        if (suspects == 1)
            b->confirmed[node]++;
    }
    b->n_sets++;
}

/* Groups of one round have no node in common: they can be taken in turn. */
static void learn(struct bisection *b)
{
    const struct plan_pool *pool = b->pool;
    double slow = usual_figure(b) * SLOW_BELOW;

    for (size_t i = 0; i < pool->n_past; i++) {
        const struct plan_past *group = &pool->past[i];

        if (group->figure < slow || !(group->figure > 0.0)) {
            suspect(b, group);
            continue;
        }
        for (size_t k = 0; k < group->n; k++)
            b->set[group->nodes[k]] = CLEAR;
    }
}

/* ---- The next groups ---- */

/* Good nodes that are free, from another place on in each round; false: too few. */
static bool fill_up(struct bisection *b, size_t round, int *group, size_t n)
{
    size_t nodes = b->pool->n, start = round * b->size % nodes;

    for (size_t i = 0; i < nodes && n < b->size; i++) {
        size_t node = (start + i) % nodes;

        if (b->set[node] == CLEAR && !b->is_used[node] && !is_lost(b, node))
            group[n++] = (int)node;
    }
    return n == b->size;
}

/* A group of these and of good ones, unless there are too few. */
static void add_group(struct bisection *b, size_t round, const int *suspects, size_t n,
                      struct plan_round *out)
{
    int *group = out->nodes + out->n * b->size;

    if (n == 0 || (out->n + 1) * b->size > b->pool->n)
        return;
    for (size_t i = 0; i < n; i++)
        group[i] = suspects[i];
    if (!fill_up(b, round, group, n))
        return;
    for (size_t i = 0; i < b->size; i++)
        b->is_used[group[i]] = true;
    out->sizes[out->n++] = b->size;
}

/* Those of a set that are still there. */
static size_t members(const struct bisection *b, int set, int *out)
{
    size_t n = 0;

    for (size_t i = 0; i < b->pool->n; i++)
        if (b->set[i] == set && !is_lost(b, i))
            out[n++] = (int)i;
    return n;
}

static void first_round(struct bisection *b, int *nodes, struct plan_round *out)
{
    size_t n = members(b, UNKNOWN, nodes);

    for (size_t i = 0; i + b->size <= n; i += b->size)
        add_group(b, 0, nodes + i, b->size, out);
}

static void next_round(struct bisection *b, size_t round, int *nodes,
                       struct plan_round *out)
{
    learn(b);
    add_group(b, round, nodes, members(b, UNKNOWN, nodes), out);
    for (int set = 0; set < b->n_sets; set++) {
        size_t n = members(b, set, nodes), half = n / 2;

        if (n == 1 && b->confirmed[nodes[0]] >= CONFIRMATIONS)
            continue;
        add_group(b, round, nodes, n - half, out);
        add_group(b, round, nodes + (n - half), half, out);
    }
}

int bisect_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    struct bisection b = {.pool = pool, .size = group_size(pool->n)};
    int *nodes = calloc(pool->n + 1, sizeof(*nodes)), result = -1;

    b.set = calloc(pool->n + 1, sizeof(*b.set));
    b.confirmed = calloc(pool->n + 1, sizeof(*b.confirmed));
    b.is_used = calloc(pool->n + 1, sizeof(*b.is_used));
    if (nodes && b.set && b.confirmed && b.is_used) {
        for (size_t i = 0; i < pool->n; i++)
            b.set[i] = UNKNOWN;
        if (round == 0)
            first_round(&b, nodes, out);
        else
            next_round(&b, round, nodes, out);
        result = 0;
    }
    free(nodes);
    free(b.set);
    free(b.confirmed);
    free(b.is_used);
    return result;
}
