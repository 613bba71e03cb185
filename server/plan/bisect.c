/* bisect.c - the slow nodes of many: groups of about sqrt(n) nodes at once, and the same
 * moved on by half a group, so that what lies between two groups is used too. Then the
 * halves of what is slow, filled up with nodes of groups that are not, until one node is
 * left. Groups have one size throughout, since figures of other sizes say something else.
 * Where a group is slow and none of its nodes is, pairs tell what lies between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/plan/patterns.h"

#define CLEAR (-1)
#define UNKNOWN (-2)

struct bisect_node {
    int set;       /* the suspects that it is one of, CLEAR or UNKNOWN */
    int last;      /* those that it was one of last, or UNKNOWN */
    bool is_alone; /* it was slow among good ones */
    bool is_used;  /* in the round that is being made */
    size_t place;  /* among those that are looked at */
};

struct bisect_set {
    const struct culprit_group *group; /* that is slow */
    size_t n;
    double deviation;
    enum { ONCE, SLOW_AGAIN, FINE } again; /* what the same group did later */
};

struct bisection {
    const struct plan_pool *pool;
    size_t size; /* of a group */
    struct bisect_node *nodes;
    struct bisect_set *sets;
    int n_sets;
    double *deviations; /* of each group; NAN: did not run */
    double cut;
    struct plan_round *out;
    size_t n_placed; /* nodes of this round */
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

    return (struct plan_size){
        .rounds = 2, .groups = 2 * (n / size), .smallest = size, .largest = size};
}

static bool is_lost(const struct bisection *b, size_t node)
{
    return b->pool->is_lost && b->pool->is_lost[node];
}

/* ---- What the groups so far say ---- */

/* Its nodes that are not known to be good are one set of suspects; where all are, it is
 * not one of them that is slow, and of a pair there is nothing more to be known. */
static void suspect(struct bisection *b, const struct culprit_group *group,
                    double deviation)
{
    size_t suspects = 0;

    for (size_t i = 0; i < group->n; i++)
        suspects += b->nodes[group->nodes[i]].set != CLEAR;
    if (suspects == 0 && group->n == 2)
        return;
    for (size_t i = 0; i < group->n; i++) {
        struct bisect_node *node = &b->nodes[group->nodes[i]];

        if (node->set == CLEAR && suspects > 0)
            continue;
        node->last = b->n_sets;
        if (node->set != CLEAR)
            node->set = b->n_sets;
        node->is_alone = suspects == 1;
    }
    b->sets[b->n_sets++] =
        (struct bisect_set){group, suspects > 0 ? suspects : group->n, deviation, ONCE};
}

/* The set of a group that is measured again, or NULL. */
static struct bisect_set *set_of(struct bisection *b, const struct culprit_group *group)
{
    for (int i = 0; i < b->n_sets; i++)
        if (b->sets[i].group->n == group->n &&
            memcmp(b->sets[i].group->nodes, group->nodes,
                   group->n * sizeof(*group->nodes)) == 0)
            return &b->sets[i];
    return NULL;
}

/* Slow is not what is so by far less than what made its nodes suspects. */
static bool is_slow(const struct bisection *b, size_t group, const struct bisect_set *set)
{
    return !(b->deviations[group] >= fmin(b->cut, set ? set->deviation / 4 : 0));
}

/* Beside the least of the sets that it has suspects of. */
static bool is_slow_yet(const struct bisection *b, size_t group)
{
    const struct culprit_group *it = &b->pool->fleet.groups[group];
    bool is = is_slow(b, group, NULL);

    for (size_t i = 0; i < it->n && is; i++)
        if (b->nodes[it->nodes[i]].set >= 0)
            is = is_slow(b, group, &b->sets[b->nodes[it->nodes[i]].set]);
    return is;
}

static void learn_group(struct bisection *b, const struct culprit_group *group,
                        double deviation, bool slow)
{
    struct bisect_set *set = set_of(b, group);

    if (set)
        set->again = slow ? SLOW_AGAIN : FINE;
    else if (slow)
        suspect(b, group, deviation);
    else
        for (size_t i = 0; i < group->n; i++)
            b->nodes[group->nodes[i]].set = CLEAR;
}

/* Groups of one round have no node in common: they can be taken in turn. */
static void learn(struct bisection *b)
{
    const struct culprit_fleet *fleet = &b->pool->fleet;

    culprit_deviations(fleet, b->deviations, &b->cut);
    for (size_t i = 0; i < fleet->n_groups; i++)
        learn_group(b, &fleet->groups[i], b->deviations[i], is_slow_yet(b, i));
}

/* ---- The next groups ---- */

static bool is_free(const struct bisection *b, size_t node)
{
    return !b->nodes[node].is_used && !is_lost(b, node);
}

static void put_group(struct bisection *b, const size_t *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        b->nodes[nodes[i]].is_used = true;
        b->out->nodes[b->n_placed++] = nodes[i];
    }
    b->out->sizes[b->out->n++] = n;
}

/* Good nodes that are free, from another place on in each round; false: too few. */
static bool fill_up(struct bisection *b, size_t round, size_t *group, size_t n)
{
    size_t nodes = b->pool->fleet.n_nodes, start = round * b->size % nodes;

    for (size_t i = 0; i < nodes && n < b->size; i++) {
        size_t node = (start + i) % nodes;

        if (b->nodes[node].set == CLEAR && is_free(b, node))
            group[n++] = node;
    }
    return n == b->size;
}

/* A group of these and of good ones, unless there are too few. */
static void add_group(struct bisection *b, size_t round, const size_t *suspects, size_t n)
{
    /* Behind those that are placed there is room for all others. */
    size_t *group = b->out->nodes + b->n_placed;

    if (n == 0 || b->n_placed + b->size > b->pool->fleet.n_nodes)
        return;
    n = n < b->size ? n : b->size;
    memcpy(group, suspects, n * sizeof(*suspects));
    if (fill_up(b, round, group, n))
        put_group(b, group, b->size);
}

/* Those of a set that are still there. */
static size_t members(const struct bisection *b, int set, size_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < b->pool->fleet.n_nodes; i++)
        if (b->nodes[i].set == set && !is_lost(b, i))
            out[n++] = i;
    return n;
}

/* The last group of the second time reaches to the end at least. */
static void first_rounds(struct bisection *b, size_t round, size_t *nodes)
{
    size_t n = members(b, UNKNOWN, nodes), rest = n % b->size;
    size_t start = rest > b->size / 2 ? rest : b->size / 2;

    for (size_t i = 0; i + b->size <= n; i += b->size) {
        size_t *group = nodes + n;

        for (size_t k = 0; k < b->size; k++)
            group[k] = nodes[(i + k + (round > 0 ? start : 0)) % n];
        put_group(b, group, b->size);
    }
}

/* ---- What lies between nodes ---- */

/* Whether the halves of a set are not slow, nor any of it; who they are. */
static bool is_acquitted(const struct bisection *b, int set, size_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < b->pool->fleet.n_nodes; i++)
        if (b->nodes[i].last == set && b->nodes[i].set == CLEAR && is_free(b, i))
            out[n++] = i;
    return n == b->sets[set].n;
}

/* Which of n nodes have met, by their places n * a + b: as a pair, or in a group that is
 * not slow too. Returns whether a pair of them is slow. */
static bool find_met(struct bisection *b, const struct bisect_set *set,
                     const size_t *nodes, bool in_groups, bool *met)
{
    bool is_any_slow = false;
    size_t n = set->n;

    for (size_t i = 0; i < b->pool->fleet.n_nodes; i++)
        b->nodes[i].place = n;
    for (size_t i = 0; i < n; i++)
        b->nodes[nodes[i]].place = i;
    for (size_t i = 0; i < b->pool->fleet.n_groups; i++) {
        const struct culprit_group *group = &b->pool->fleet.groups[i];

        for (size_t k = 0; k < group->n * group->n; k++) {
            size_t x = b->nodes[group->nodes[k / group->n]].place;
            size_t y = b->nodes[group->nodes[k % group->n]].place;

            if (x >= n || y >= n || x == y)
                continue;
            if (group->n == 2 || (in_groups && !is_slow(b, i, set)))
                met[n * x + y] = true;
            is_any_slow = is_any_slow || (group->n == 2 && is_slow(b, i, set));
        }
    }
    return is_any_slow;
}

/* Beside them pairs of nodes that were never suspects: what a pair does. */
static void add_controls(struct bisection *b, size_t n)
{
    size_t pair[2], found = 0;

    for (size_t i = 0; i < b->pool->fleet.n_nodes && n > 0; i++) {
        if (b->nodes[i].last != UNKNOWN || b->nodes[i].set != CLEAR || !is_free(b, i))
            continue;
        pair[found++] = i;
        if (found < 2)
            continue;
        put_group(b, pair, 2);
        found = 0;
        n--;
    }
}

/* As many as there can be at once of those that have not met. */
static size_t put_pairs(struct bisection *b, const size_t *nodes, size_t n,
                        const bool *met)
{
    size_t added = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            size_t pair[2] = {nodes[i], nodes[k]};

            if (met[n * i + k] || !is_free(b, pair[0]) || !is_free(b, pair[1]))
                continue;
            put_group(b, pair, 2);
            added++;
        }
    return added;
}

/* Larger groups may get round a slow link: if all that are left are normal, then those
 * that met in good groups too. */
static int add_pairs(struct bisection *b, const struct bisect_set *set,
                     const size_t *nodes)
{
    size_t n = set->n, added = 0;
    bool *met = calloc(n * n, sizeof(*met));

    if (met && !find_met(b, set, nodes, true, met)) {
        added = put_pairs(b, nodes, n, met);
        memset(met, 0, n * n * sizeof(*met));
        if (added == 0 && !find_met(b, set, nodes, false, met))
            added = put_pairs(b, nodes, n, met);
    }
    add_controls(b, added);
    free(met);
    return met ? 0 : -1;
}

/* The same group once more, then what is between its nodes. */
static int look_between(struct bisection *b, int number, size_t *nodes)
{
    const struct bisect_set *set = &b->sets[number];

    if (set->again == FINE || !is_acquitted(b, number, nodes))
        return 0;
    if (set->group->n == 2 || set->again == SLOW_AGAIN)
        return add_pairs(b, set, nodes);
    for (size_t i = 0; i < set->group->n; i++)
        if (!is_free(b, set->group->nodes[i]))
            return 0;
    put_group(b, set->group->nodes, set->group->n);
    return 0;
}

static int next_round(struct bisection *b, size_t round, size_t *nodes)
{
    learn(b);
    add_group(b, round, nodes, members(b, UNKNOWN, nodes));
    for (int set = 0; set < b->n_sets; set++) {
        size_t n = members(b, set, nodes), half = n / 2;

        if (n == 1 && b->nodes[nodes[0]].is_alone)
            continue;
        add_group(b, round, nodes, n - half);
        add_group(b, round, nodes + (n - half), half);
    }
    for (int set = 0; set < b->n_sets; set++)
        if (look_between(b, set, nodes))
            return -1;
    return 0;
}

int bisect_fill(const struct plan_pool *pool, size_t round, struct plan_round *out)
{
    size_t n = pool->fleet.n_nodes, *nodes = calloc(2 * n + 1, sizeof(*nodes));
    struct bisection b = {.pool = pool, .size = group_size(n), .out = out};
    int result = -1;

    b.nodes = calloc(n + 1, sizeof(*b.nodes));
    b.sets = calloc(pool->fleet.n_groups + 1, sizeof(*b.sets));
    b.deviations = calloc(pool->fleet.n_groups + 1, sizeof(*b.deviations));
    if (nodes && b.nodes && b.sets && b.deviations) {
        for (size_t i = 0; i < n; i++)
            b.nodes[i] = (struct bisect_node){.set = UNKNOWN, .last = UNKNOWN};
        result = 0;
        if (round < bisect_size(n).rounds)
            first_rounds(&b, round, nodes);
        else
            result = next_round(&b, round, nodes);
    }
    free(nodes);
    free(b.nodes);
    free(b.sets);
    free(b.deviations);
    return result;
}
