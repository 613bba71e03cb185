/* SPDX-License-Identifier: Apache-2.0 */
/* culprit.c - selects pairs of nodes that confirm or clear suspects */
#include "server/analysis/culprit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/analysis/culprit_model.h"

/* ---- Pairs to measure ---- */

struct plan {
    const struct culprit_model *model;
    size_t *good; /* indexes of good nodes */
    size_t n_good, at;
    struct culprit_pair *pairs;
    size_t n;
};

/* Find nodes that performed well in groups without any suspect. */
static void find_good(struct plan *plan)
{
    const struct culprit_model *model = plan->model;
    double cut =
        culprit_cut(model, 1, culprit_errors(CULPRIT_SUSPICION, model->fleet->n_nodes));

    for (size_t i = 0; i < model->fleet->n_nodes; i++) {
        size_t n;
        double deviation = culprit_deviation(model, i, &n);

        if (n > 0 && !model->is_suspect[i] && deviation > cut)
            plan->good[plan->n_good++] = i;
    }
}

static void add_pair(struct plan *plan, size_t a, size_t b)
{
    plan->pairs[plan->n++] = (struct culprit_pair){a, b};
}

/* Return the next good node, in rotation. */
static size_t next_good(struct plan *plan)
{
    return plan->good[plan->at++ % plan->n_good];
}

/* Return node i of a suspect rack, modulo the number of its nodes. */
static size_t node_of_rack(const struct culprit_model *model, size_t first, size_t i)
{
    size_t n = 0, found = first;

    for (size_t k = 0; k < model->fleet->n_nodes; k++)
        n += model->racks[k] == model->racks[first];
    assert(n > 0); /* n > 0: the rack contains at least its first node */
    i %= n;
    for (size_t k = 0; k < model->fleet->n_nodes; k++)
        if (model->racks[k] == model->racks[first] && i-- == 0)
            found = k;
    return found;
}

static bool add_one(struct plan *plan, const struct suspect *suspect, size_t i)
{
    const struct culprit_model *model = plan->model;

    if (suspect->kind == SUSPECT_LINK)
        add_pair(plan, suspect->a, suspect->b);
    else if (suspect->kind == SUSPECT_RACK && suspect->is_boundary)
        add_pair(plan, node_of_rack(model, suspect->a, i),
                 node_of_rack(model, suspect->b, i));
    else if (plan->n_good == 0)
        return false;
    else
        add_pair(plan,
                 suspect->kind == SUSPECT_RACK ? node_of_rack(model, suspect->a, i)
                                               : suspect->a,
                 next_good(plan));
    return true;
}

static bool is_suspect_link(const struct culprit_model *model, size_t a, size_t b)
{
    for (size_t i = 0; i < model->n_suspects; i++) {
        const struct suspect *it = &model->suspects[i];

        if (it->kind == SUSPECT_LINK && it->state != SUSPECT_CLEARED &&
            ((it->a == a && it->b == b) || (it->a == b && it->b == a)))
            return true;
    }
    return false;
}

/* Add a control pair that is measured at the same time: two good nodes, or one end of a
 * suspect link with a good node, where the ends alternate. A slow control shows that a
 * temporary disturbance or a slow node is the cause, not the suspect. */
static void add_control(struct plan *plan, const struct suspect *suspect, size_t turn)
{
    const struct culprit_model *model = plan->model;

    if (suspect->is_boundary) {
        add_pair(plan, suspect->a, node_of_rack(model, suspect->a, 1));
        return;
    }
    for (size_t i = 0; i < plan->n_good * plan->n_good; i++) {
        size_t a = next_good(plan), b = plan->good[plan->at % plan->n_good];

        if (suspect->kind == SUSPECT_LINK)
            b = turn % 2 ? suspect->b : suspect->a;
        if (a == b || is_suspect_link(model, a, b))
            continue;
        add_pair(plan, a, b);
        return;
    }
}

/* Add pairs for each undecided suspect. The pairs of different suspects alternate, so
 * that a temporary disturbance does not affect one suspect alone. */
static void add_round(struct plan *plan, size_t round)
{
    for (size_t i = 0; i < plan->model->n_suspects; i++) {
        const struct suspect *suspect = &plan->model->suspects[i];
        size_t turn = suspect->tried + round;

        if (suspect->state != SUSPECT_OPEN || suspect->tried >= CULPRIT_CONFIRM_MAX)
            continue;
        plan->at = i + turn; /* Use other nodes than in the last round. */
        if (add_one(plan, suspect, turn))
            add_control(plan, suspect, turn);
    }
}

/* Return true if most nodes are suspects. Then no node is known to be good. */
static bool is_hopeless(const struct culprit_model *model)
{
    size_t n = 0;

    for (size_t i = 0; i < model->n_suspects; i++)
        n += model->suspects[i].kind == SUSPECT_NODE &&
             model->suspects[i].state != SUSPECT_CLEARED;
    return 2 * n > model->fleet->n_nodes;
}

size_t culprit_confirm(const struct culprit_fleet *fleet, struct culprit_pair **pairs)
{
    struct culprit_model model;
    struct plan plan = {.model = &model};

    culprit_model_init(&model, fleet);
    culprit_find_suspects(&model);
    plan.good = memory_zeroed(fleet->n_nodes + 1, sizeof(*plan.good), "good nodes");
    plan.pairs = memory_zeroed(2 * model.n_suspects * CULPRIT_CONFIRM_MIN + 1,
                               sizeof(*plan.pairs), "pairs to measure");
    find_good(&plan);
    for (size_t i = 0; i < CULPRIT_CONFIRM_MIN && !is_hopeless(&model); i++)
        add_round(&plan, i);
    free(plan.good);
    culprit_model_release(&model);
    *pairs = plan.pairs;
    return plan.n;
}
