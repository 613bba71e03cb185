/* bisect.c - the slow nodes of many: groups of about sqrt(n) nodes at once, then the
 * halves of those that are slow, filled up with nodes of groups that are not, until one
 * node is left. Groups have one size throughout, since figures of other sizes say
 * something else. */
#include <stdlib.h>

#include "server/plan/patterns.h"

#define CLEAR (-1)
#define UNKNOWN (-2)

struct bisection {
    const struct plan_pool *pool;
    size_t size; /* of a group */
    int *set;    /* of each node: the suspects that it is one of, CLEAR or UNKNOWN */
    int n_sets;
    bool *is_alone; /* of each node: it was slow among good ones */
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

/* Its nodes that are not known to be good are one set of suspects. */
static void suspect(struct bisection *b, const struct culprit_group *group)
{
    size_t suspects = 0;

    for (size_t i = 0; i < group->n; i++)
        suspects += b->set[group->nodes[i]] != CLEAR;
    for (size_t i = 0; i < group->n; i++) {
        size_t node = group->nodes[i];

        if (b->set[node] == CLEAR)
            continue;
        b->set[node] = b->n_sets;
        b->is_alone[node] = suspects == 1;
    }
    b->n_sets++;
}

/* Groups of one round have no node in common: they can be taken in turn. */
static int learn(struct bisection *b)
{
    const struct culprit_fleet *fleet = &b->pool->fleet;
    bool *slow = calloc(fleet->n_groups + 1, sizeof(*slow));
    int result = slow ? culprit_slow(fleet, slow) : -1;

    for (size_t i = 0; i < fleet->n_groups && !result; i++) {
        const struct culprit_group *group = &fleet->groups[i];

        if (slow[i] || group->state != CULPRIT_RAN) {
            suspect(b, group);
            continue;
        }
        for (size_t k = 0; k < group->n; k++)
            b->set[group->nodes[k]] = CLEAR;
    }
    free(slow);
    return result;
}

/* ---- The next groups ---- */

/* Good nodes that are free, from another place on in each round; false: too few. */
static bool fill_up(struct bisection *b, size_t round, size_t *group, size_t n)
{
    size_t nodes = b->pool->fleet.n_nodes, start = round * b->size % nodes;

    for (size_t i = 0; i < nodes && n < b->size; i++) {
        size_t node = (start + i) % nodes;

        if (b->set[node] == CLEAR && !b->is_used[node] && !is_lost(b, node))
            group[n++] = node;
    }
    return n == b->size;
}

/* A group of these and of good ones, unless there are too few. */
static void add_group(struct bisection *b, size_t round, const size_t *suspects, size_t n,
                      struct plan_round *out)
{
    size_t *group = out->nodes + out->n * b->size;

    if (n == 0 || (out->n + 1) * b->size > b->pool->fleet.n_nodes)
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
static size_t members(const struct bisection *b, int set, size_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < b->pool->fleet.n_nodes; i++)
        if (b->set[i] == set && !is_lost(b, i))
            out[n++] = i;
    return n;
}

static void first_round(struct bisection *b, size_t *nodes, struct plan_round *out)
{
    size_t n = members(b, UNKNOWN, nodes);

    for (size_t i = 0; i + b->size <= n; i += b->size)
        add_group(b, 0, nodes + i, b->size, out);
}

static int next_round(struct bisection *b, size_t round, size_t *nodes,
                      struct plan_round *out)
{
    if (learn(b))
        return -1;
    add_group(b, round, nodes, members(b, UNKNOWN, nodes), out);
    for (int set = 0; set < b->n_sets; set++) {
        size_t n = members(b, set, nodes), half = n / 2;

        if (n == 1 && b->is_alone[nodes[0]])
            continue;
        add_group(b, round, nodes, n - half, out);
        add_group(b, round, nodes + (n - half), half, out);
    }
    return 0;
}

int bisect_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t n = pool->fleet.n_nodes, *nodes = calloc(n + 1, sizeof(*nodes));
    struct bisection b = {.pool = pool, .size = group_size(n)};
    int result = -1;

    b.set = calloc(n + 1, sizeof(*b.set));
    b.is_alone = calloc(n + 1, sizeof(*b.is_alone));
    b.is_used = calloc(n + 1, sizeof(*b.is_used));
    if (nodes && b.set && b.is_alone && b.is_used) {
        for (size_t i = 0; i < n; i++)
            b.set[i] = UNKNOWN;
        result = 0;
        if (round == 0)
            first_round(&b, nodes, out);
        else
            result = next_round(&b, round, nodes, out);
    }
    free(nodes);
    free(b.set);
    free(b.is_alone);
    free(b.is_used);
    return result;
}
