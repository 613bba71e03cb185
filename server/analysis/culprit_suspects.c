/* SPDX-License-Identifier: Apache-2.0 */
/* culprit_suspects.c - finds racks, nodes and links that could explain slow groups, and
 * judges these suspects */
#include "server/analysis/culprit_model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/analysis/stats.h"

#define NEARLY_ALL 0.75

/* ---- The list of suspects ---- */

static bool is_same(const struct suspect *x, const struct suspect *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b && x->key == y->key;
}

static bool is_listed(const struct culprit_model *model, const struct suspect *suspect)
{
    for (size_t i = 0; i < model->n_suspects; i++)
        if (is_same(&model->suspects[i], suspect))
            return true;
    return false;
}

/* Return the number of groups that a suspect could explain: for a rack all groups,
 * otherwise the groups of the node or of the link's first node. */
static size_t count_groups(const struct culprit_model *model,
                           const struct suspect *suspect)
{
    return suspect->kind == SUSPECT_RACK
               ? model->fleet->n_groups
               : model->starts[suspect->a + 1] - model->starts[suspect->a];
}

static size_t group_at(const struct culprit_model *model, const struct suspect *suspect,
                       size_t i)
{
    return suspect->kind == SUSPECT_RACK ? i
                                         : model->lists[model->starts[suspect->a] + i];
}

static void use_groups(struct culprit_model *model, const struct suspect *suspect)
{
    for (size_t i = 0; i < count_groups(model, suspect); i++) {
        size_t group = group_at(model, suspect, i);

        model->users[group] += culprit_explains(model, suspect, group);
    }
}

static void add_suspect(struct culprit_model *model, const struct suspect *suspect)
{
    model->suspects = memory_grown(model->suspects, model->n_suspects, &model->capacity,
                                   sizeof(*model->suspects), "suspects");
    model->suspects[model->n_suspects++] = *suspect;
    use_groups(model, suspect);
    for (size_t i = 0; i < model->fleet->n_nodes; i++)
        if (suspect->kind == SUSPECT_NODE
                ? i == suspect->a
                : suspect->kind == SUSPECT_RACK && model->racks[i] &&
                      (model->racks[i] == model->racks[suspect->a] ||
                       (suspect->is_boundary &&
                        model->racks[i] == model->racks[suspect->b])))
            model->is_suspect[i] = true;
}

static void drop_open(struct culprit_model *model)
{
    size_t n = 0;

    for (size_t i = 0; i < model->n_suspects; i++)
        if (model->suspects[i].state == SUSPECT_CLEARED)
            model->suspects[n++] = model->suspects[i];
    model->n_suspects = n;
    memset(model->users, 0, model->fleet->n_groups * sizeof(*model->users));
    memset(model->is_suspect, 0, model->fleet->n_nodes * sizeof(*model->is_suspect));
}

/* ---- Racks ---- */

/* The groups of a rack that cross its boundary, and the groups within it. */
struct rack_look {
    struct suspect suspect;
    size_t across, slow_across, within, slow_within;
    double effect, score;
};

static size_t members_of(const struct culprit_model *model, const char *rack)
{
    size_t n = 0;

    for (size_t i = 0; i < model->fleet->n_nodes; i++)
        n += model->racks[i] == rack;
    return n;
}

static size_t count_inside(const struct culprit_model *model, size_t group,
                           const char *rack)
{
    const struct culprit_group *it = &model->fleet->groups[group];
    size_t n = 0;

    for (size_t i = 0; i < 2; i++)
        n += model->racks[it->nodes[i]] == rack;
    return n;
}

static bool is_looked_at(const struct culprit_model *model, size_t group)
{
    return !isnan(model->deviations[group]) && model->users[group] == 0 &&
           !model->fleet->groups[group].confirms;
}

/* Set the suspect's effect to the median over the groups that leave the rack. */
static void look_across(struct culprit_model *model, const char *rack,
                        struct rack_look *look)
{
    const struct culprit_fleet *fleet = model->fleet;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        size_t inside = is_looked_at(model, i) ? count_inside(model, i, rack) : 0;

        if (inside == 1)
            model->scratch[look->across++] = model->deviations[i];
    }
    order_stat_sort(model->scratch, look->across);
    if (look->across > 0)
        look->effect = median_of_sorted(model->scratch, look->across);
}

static void count_slow(struct culprit_model *model, const char *rack,
                       struct rack_look *look)
{
    const struct culprit_fleet *fleet = model->fleet;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        size_t inside = is_looked_at(model, i) ? count_inside(model, i, rack) : 0;
        bool is_slow = inside > 0 && model->deviations[i] < look->effect / 2;

        if (inside == 1) {
            look->slow_across += is_slow;
        } else if (inside > 0) {
            look->within++;
            look->slow_within += is_slow;
        }
    }
}

static bool is_nearly_all(size_t slow, size_t all)
{
    return all > 0 && (double)slow >= NEARLY_ALL * (double)all;
}

/* Return true if every node of the rack is slow across the boundary. */
static bool all_are_slow(struct culprit_model *model, const char *rack, double cut)
{
    const struct culprit_fleet *fleet = model->fleet;

    for (size_t node = 0; node < fleet->n_nodes; node++) {
        size_t slow = 0, all = 0;

        if (model->racks[node] != rack)
            continue;
        for (size_t i = model->starts[node]; i < model->starts[node + 1]; i++) {
            size_t group = model->lists[i];

            if (!is_looked_at(model, group) || count_inside(model, group, rack) == 2)
                continue;
            all++;
            slow += model->deviations[group] < cut;
        }
        if (all > 0 && 2 * slow <= all)
            return false;
    }
    return true;
}

/* Evaluate the rack of the given first node. Return true if the rack is a suspect. */
static bool look_at_rack(struct culprit_model *model, size_t node, struct rack_look *look)
{
    const char *rack = model->racks[node];
    size_t n = members_of(model, rack);

    *look = (struct rack_look){
        .suspect = {.kind = SUSPECT_RACK, .a = node, .b = node, .key = model->key}};
    if (n < 2 || model->fleet->n_nodes - n < 2 || is_listed(model, &look->suspect))
        return false;
    look_across(model, rack, look);
    if (look->across < 2 ||
        look->effect > culprit_cut(model, look->across,
                                   culprit_errors(CULPRIT_SUSPICION, model->n_racks)))
        return false;
    count_slow(model, rack, look);
    look->suspect.is_slow_within = is_nearly_all(look->slow_within, look->within);
    look->score = (double)(look->slow_across + look->slow_within) /
                  (double)(look->across + look->within);
    return is_nearly_all(look->slow_across, look->across) &&
           all_are_slow(model, rack, look->effect / 2);
}

/* Find the rack that explains the most slow groups. If there are exactly two racks and
 * both are normal within, the boundary between them is the suspect. */
static bool find_rack(struct culprit_model *model, struct suspect *out)
{
    struct rack_look best = {.score = -1}, look;
    size_t found = 0, other = 0;

    for (size_t i = 0; i < model->n_racks; i++) {
        size_t first = model->firsts[i];

        if (model->is_suspect[first] || !look_at_rack(model, first, &look))
            continue;
        found++;
        other = first;
        if (look.score > best.score)
            best = look;
    }
    if (found == 2 && model->n_racks == 2 && !best.suspect.is_slow_within) {
        best.suspect.is_boundary = true;
        best.suspect.b = other;
    }
    *out = best.suspect;
    return found > 0;
}

/* Add the suspect racks of a label key. Return true if there are any. */
static bool find_racks_of(struct culprit_model *model, const char *key)
{
    struct suspect suspect;
    size_t n = model->n_suspects;

    culprit_set_key(model, key);
    if (model->n_racks < 2 || model->n_racks == model->fleet->n_nodes)
        return false;
    while (find_rack(model, &suspect))
        add_suspect(model, &suspect);
    return model->n_suspects > n;
}

static void find_racks(struct culprit_model *model)
{
    const struct culprit_fleet *fleet = model->fleet;
    json_t *tried = json_object(), *value;
    const char *key;
    bool has_found = false;

    for (size_t i = 0; i < fleet->n_nodes && !has_found; i++)
        json_object_foreach ((json_t *)(uintptr_t)fleet->nodes[i].labels, key, value) {
            if (json_object_get(tried, key))
                continue;
            json_object_set_new(tried, key, json_true());
            has_found = find_racks_of(model, key);
            if (has_found)
                break;
        }
    json_decref(tried);
    if (!has_found)
        culprit_set_key(model, NULL);
}

/* ---- Nodes ---- */

/* Find the node with the lowest mean among the nodes whose median is slow. */
static bool find_node(struct culprit_model *model, struct suspect *out)
{
    size_t n_nodes = model->fleet->n_nodes;
    double errors = culprit_errors(CULPRIT_SUSPICION, n_nodes), least = 0;

    *out = (struct suspect){.kind = SUSPECT_NODE};
    for (size_t i = 0; i < n_nodes; i++) {
        struct suspect it = {.kind = SUSPECT_NODE, .a = i, .b = i};
        double deviation, mean;
        size_t n;

        if (model->is_suspect[i] || is_listed(model, &it))
            continue;
        deviation = culprit_deviation(model, i, &n);
        if (n == 0 || deviation > culprit_cut(model, n, errors))
            continue;
        /* `scratch` contains the values from which the median was computed. */
        mean = stats_mean(model->scratch, n);
        if (mean >= least)
            continue;
        least = mean;
        *out = it;
    }
    return least < 0;
}

/* Return true if a node ran only with suspects and was always slow. */
static bool was_always_slow(struct culprit_model *model, size_t node)
{
    double errors, cut;
    size_t n, slow = 0, all = 0;

    culprit_deviation(model, node, &n);
    if (n > 0 || model->is_suspect[node])
        return false;
    errors = culprit_errors(CULPRIT_SUSPICION, model->n_ran);
    cut = culprit_cut(model, 1, errors);
    for (size_t i = model->starts[node]; i < model->starts[node + 1]; i++) {
        size_t group = model->lists[i];

        if (isnan(model->deviations[group]) || model->fleet->groups[group].confirms)
            continue;
        all++;
        slow += model->deviations[group] < cut;
    }
    return all > 0 && slow == all;
}

static void find_nodes(struct culprit_model *model)
{
    struct suspect suspect;

    while (find_node(model, &suspect))
        add_suspect(model, &suspect);
    for (size_t i = 0; i < model->fleet->n_nodes; i++) {
        suspect = (struct suspect){.kind = SUSPECT_NODE, .a = i, .b = i};
        if (was_always_slow(model, i) && !is_listed(model, &suspect))
            add_suspect(model, &suspect);
    }
}

/* ---- Links ---- */

/* Return the median deviation of a node's groups that do not include `other`, or NAN. */
static double without(struct culprit_model *model, size_t node, size_t other)
{
    const struct suspect link = {.kind = SUSPECT_LINK, .a = node, .b = other};
    size_t n = 0;

    for (size_t i = model->starts[node]; i < model->starts[node + 1]; i++)
        if (is_looked_at(model, model->lists[i]) &&
            !culprit_explains(model, &link, model->lists[i]))
            model->scratch[n++] = model->deviations[model->lists[i]];
    order_stat_sort(model->scratch, n);
    return n > 0 ? median_of_sorted(model->scratch, n) : (double)NAN;
}

/* Find the slowest link. is_surely: each end must be normal in groups without the other
 * end. */
static bool find_link(struct culprit_model *model, bool is_surely, double least,
                      struct suspect *out)
{
    const struct culprit_fleet *fleet = model->fleet;
    bool is_found = false;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        const size_t *nodes = fleet->groups[i].nodes;
        bool is_turned = nodes[0] > nodes[1];
        struct suspect it = {
            .kind = SUSPECT_LINK, .a = nodes[is_turned], .b = nodes[!is_turned]};

        if (!is_looked_at(model, i) || model->deviations[i] >= least ||
            is_listed(model, &it) ||
            (is_surely && !(without(model, it.a, it.b) > model->deviations[i] / 2 &&
                            without(model, it.b, it.a) > model->deviations[i] / 2)))
            continue;
        least = model->deviations[i];
        *out = it;
        is_found = true;
    }
    return is_found;
}

/* Add links as suspects, unless there are too many. Many slow pairs indicate a disturbed
 * machine, not faults of links. */
static void find_links(struct culprit_model *model, bool is_surely)
{
    size_t before = model->n_suspects, slow = 0;
    double cut = culprit_cut(model, 1, culprit_errors(CULPRIT_SUSPICION, model->n_ran));
    struct suspect suspect;

    for (size_t i = 0; i < model->fleet->n_groups; i++)
        slow += is_looked_at(model, i) && model->deviations[i] < cut;
    if (slow > CULPRIT_LINKS_MAX)
        return;
    while (model->n_suspects - before < CULPRIT_LINKS_MAX &&
           find_link(model, is_surely, cut, &suspect))
        add_suspect(model, &suspect);
}

/* ---- Evidence for and against suspects ---- */

/* Return the probability that at least k of n independent events occur; each has
 * probability q, 0 < q < 1. */
static double at_least(size_t k, size_t n, double q)
{
    return k == 0 ? 1 : stats_beta(q, (double)k, (double)(n - k + 1));
}

static bool is_its_own(const struct culprit_model *model, const struct suspect *suspect,
                       size_t group)
{
    return model->users[group] == 1 && culprit_explains(model, suspect, group);
}

/* Compute the median deviation of the groups that only this suspect explains, or only of
 * the confirming groups among them. Return the number of groups. */
static size_t own_median(struct culprit_model *model, const struct suspect *suspect,
                         bool confirming_only, double *median)
{
    size_t n = 0;

    for (size_t i = 0; i < count_groups(model, suspect); i++) {
        size_t group = group_at(model, suspect, i);

        if (is_its_own(model, suspect, group) && !isnan(model->deviations[group]) &&
            (model->fleet->groups[group].confirms || !confirming_only))
            model->scratch[n++] = model->deviations[group];
    }
    order_stat_sort(model->scratch, n);
    if (n > 0)
        *median = median_of_sorted(model->scratch, n);
    return n;
}

static void set_effect(struct culprit_model *model, struct suspect *suspect)
{
    for (size_t i = 0; i < count_groups(model, suspect); i++) {
        size_t group = group_at(model, suspect, i);

        if (culprit_explains(model, suspect, group))
            suspect->tried += model->fleet->groups[group].confirms;
    }
    suspect->measured = own_median(model, suspect, false, &suspect->effect);
    suspect->tested = own_median(model, suspect, true, &suspect->again);
    if (suspect->measured == 0)
        return;
    suspect->reference = exp(model->reference);
    suspect->figure = suspect->reference * exp(suspect->effect);
}

static size_t alternatives(const struct culprit_model *model, enum suspect_kind kind)
{
    if (kind == SUSPECT_RACK)
        return model->n_racks;
    return kind == SUSPECT_NODE ? model->fleet->n_nodes : model->n_ran;
}

/* Compute how many suspects of this kind would have as many slow groups by chance. The
 * probability of a slow group is its rate among the groups that no suspect explains. */
static void count_evidence(struct culprit_model *model, struct suspect *suspect)
{
    const struct culprit_fleet *fleet = model->fleet;
    size_t others = 0, slow_others = 0;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        bool is_slow = model->deviations[i] < suspect->effect / 2; /* false for NAN */
        bool ran = !isnan(model->deviations[i]);

        if (model->users[i] == 0) {
            others += ran;
            slow_others += is_slow;
            suspect->controls += ran && fleet->groups[i].confirms;
            suspect->slow_controls += is_slow && fleet->groups[i].confirms;
        } else if (is_its_own(model, suspect, i)) {
            suspect->slow += is_slow;
            suspect->confirmed += is_slow && fleet->groups[i].confirms;
        }
    }
    suspect->by_chance = (double)alternatives(model, suspect->kind) *
                         at_least(suspect->slow, suspect->measured,
                                  ((double)slow_others + 0.5) / ((double)others + 1));
}

/* Judge a suspect by its confirming groups only. The groups that raised the suspicion
 * were the worst of many, so they are biased. */
static void judge(struct culprit_model *model, struct suspect *suspect)
{
    double errors = culprit_errors(CULPRIT_CONFIRMATION, model->n_suspects);
    bool is_slow_again;

    set_effect(model, suspect);
    if (suspect->measured == 0)
        return;
    count_evidence(model, suspect);
    if (suspect->tested < CULPRIT_CONFIRM_MIN)
        return;
    is_slow_again =
        suspect->again < culprit_cut(model, suspect->tested, errors) &&
        is_nearly_all(suspect->confirmed, suspect->tested) &&
        is_nearly_all(suspect->controls - suspect->slow_controls, suspect->controls);
    if (2 * suspect->confirmed <= suspect->tested ||
        (suspect->tried >= CULPRIT_CONFIRM_MAX && !is_slow_again))
        suspect->state = SUSPECT_CLEARED;
    else if (suspect->by_chance <= CULPRIT_LEVEL && is_slow_again)
        suspect->state = SUSPECT_GUILTY;
}

static void count_free(struct culprit_model *model)
{
    double cut = culprit_cut(model, 1, culprit_errors(CULPRIT_SUSPICION, model->n_ran));
    double errors = culprit_errors(CULPRIT_SUSPICION, model->fleet->n_nodes);

    for (size_t i = 0; i < model->fleet->n_groups; i++) {
        if (isnan(model->deviations[i]) || model->users[i] > 0)
            continue;
        model->n_free++;
        model->n_slow += model->deviations[i] < cut;
    }
    for (size_t i = 0; i < model->fleet->n_nodes; i++) {
        size_t n;
        double deviation = culprit_deviation(model, i, &n);

        model->n_measured += n > 0 || model->is_suspect[i];
        if (n == 0 || model->is_suspect[i])
            continue;
        model->resolution = fmin(model->resolution, culprit_cut(model, n, errors));
        model->largest = fmin(model->largest, deviation);
    }
}

void culprit_find_suspects(struct culprit_model *model)
{
    size_t cleared = 0, before;

    /* Clearing a suspect leaves its groups unexplained, so search again for other
     * suspects. */
    do {
        before = cleared;
        cleared = 0;
        drop_open(model);
        find_racks(model);
        find_links(model, true);
        find_nodes(model);
        find_links(model, false);
        for (size_t i = 0; i < model->n_suspects; i++) {
            if (model->suspects[i].state != SUSPECT_CLEARED)
                judge(model, &model->suspects[i]);
            cleared += model->suspects[i].state == SUSPECT_CLEARED;
        }
    } while (cleared > before);
    count_free(model);
}
