/* SPDX-License-Identifier: Apache-2.0 */
/* culprit_model.c - computes how far each group deviates from a healthy group */
#include "server/analysis/culprit_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/median.h"
#include "common/base/memory.h"
#include "common/base/order_stat.h"
#include "server/analysis/states.h"

#define ENOUGH 4           /* minimum number of groups for a median */
#define ENOUGH_FIRST 6     /* minimum number of groups without `confirms` for a median */
#define STATES_VALUES 256  /* maximum number of values in a search for states */
#define NOISE_FEW 0.03     /* relative noise assumed if there are too few groups */
#define NOISE_LEAST 0.0025 /* lower limit of the relative noise */
/* Converts the median of half-normal values to a standard deviation. */
#define TO_DEVIATION 1.4826
#define MEDIAN_ERROR 1.2533
#define PEAK 0.3989422804014327 /* peak of the normal density: 1 / sqrt(2 pi) */

/* ---- Expectation ---- */

static size_t gather(struct culprit_model *model, bool with_confirming)
{
    const struct culprit_fleet *fleet = model->fleet;
    size_t n = 0;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        const struct culprit_group *group = &fleet->groups[i];

        if (group->state == CULPRIT_RAN && (with_confirming || !group->confirms))
            model->scratch[n++] = log(group->figure);
    }
    order_stat_sort(model->scratch, n);
    return n;
}

/* Find the figure of a healthy group. If figures fall into two states and at least a
 * quarter is in the upper state, the upper state is healthy. The median of all figures
 * would fail if one of two racks is slow, because more than half of all pairs are then
 * slow. */
static double find_middle(const double *sorted, size_t n)
{
    double few[STATES_VALUES];
    size_t n_few = n < STATES_VALUES ? n : STATES_VALUES, from = 0;
    struct states states;

    for (size_t i = 0; i < n_few; i++)
        few[i] = sorted[i * n / n_few];
    states_find(few, n_few, &states);
    if (states.found && 4 * states.upper >= n_few)
        while (from + 1 < n && sorted[from] < states.split)
            from++;
    return median_of_sorted(sorted + from, n - from);
}

/* Set the reference. With few groups, the best one is the reference. */
static void set_reference(struct culprit_model *model)
{
    size_t n = gather(model, false);

    if (n < ENOUGH_FIRST)
        n = gather(model, true);
    if (n >= ENOUGH)
        model->reference = find_middle(model->scratch, n);
    else if (n > 0)
        model->reference = model->scratch[n - 1];
}

/* Estimate the noise from groups above the reference. Faults and disturbances only slow
 * groups down, so these groups show nothing but noise. */
static double find_noise(struct culprit_model *model)
{
    size_t n = 0;

    for (size_t i = 0; i < model->fleet->n_groups; i++)
        if (model->deviations[i] > 0)
            model->scratch[n++] = model->deviations[i];
    order_stat_sort(model->scratch, n);
    if (n < 3)
        return fmax(NOISE_FEW, n > 0 ? TO_DEVIATION * model->scratch[n - 1] : 0);
    return fmax(NOISE_LEAST,
                TO_DEVIATION * (1 + 1 / (double)n) * median_of_sorted(model->scratch, n));
}

static void set_deviations(struct culprit_model *model)
{
    const struct culprit_fleet *fleet = model->fleet;

    for (size_t i = 0; i < fleet->n_groups; i++) {
        const struct culprit_group *group = &fleet->groups[i];
        bool ran = group->state == CULPRIT_RAN;

        model->deviations[i] = ran ? log(group->figure) - model->reference : (double)NAN;
        model->n_ran += ran;
        model->n_failed += group->state == CULPRIT_FAILED;
    }
    model->noise = find_noise(model);
}

/* ---- Membership ---- */

static void set_lists(struct culprit_model *model)
{
    const struct culprit_fleet *fleet = model->fleet;
    size_t *starts = model->starts;

    for (size_t i = 0; i < fleet->n_groups; i++)
        for (size_t k = 0; k < 2; k++)
            starts[fleet->groups[i].nodes[k] + 2]++;
    for (size_t i = 2; i <= fleet->n_nodes + 1; i++)
        starts[i] += starts[i - 1];
    /* starts[i + 1] advances to the beginning of the next list. */
    for (size_t i = 0; i < fleet->n_groups; i++)
        for (size_t k = 0; k < 2; k++)
            model->lists[starts[fleet->groups[i].nodes[k] + 1]++] = i;
}

void culprit_set_key(struct culprit_model *model, const char *key)
{
    const struct culprit_fleet *fleet = model->fleet;
    json_t *firsts = json_object();

    model->key = key;
    model->n_racks = 0;
    for (size_t i = 0; i < fleet->n_nodes; i++) {
        const char *rack = key ? json_get_str(fleet->nodes[i].labels, key, NULL) : NULL;
        json_int_t first = rack ? json_get_int(firsts, rack, -1) : -1;

        model->racks[i] = rack && first >= 0 ? model->racks[first] : rack;
        if (rack && first < 0) {
            json_object_set_new(firsts, rack, json_integer((json_int_t)i));
            model->firsts[model->n_racks++] = i;
        }
    }
    json_decref(firsts);
}

/* ---- The model ---- */

static void *array(size_t n, size_t size)
{
    return memory_zeroed(n, size, "the search for culprits");
}

void culprit_model_init(struct culprit_model *model, const struct culprit_fleet *fleet)
{
    size_t n = fleet->n_nodes, n_groups = fleet->n_groups;

    *model = (struct culprit_model){.fleet = fleet};
    model->deviations = array(n_groups + 1, sizeof(*model->deviations));
    model->scratch = array(n_groups + n + 1, sizeof(*model->scratch));
    model->racks = array(n + 1, sizeof(*model->racks));
    model->firsts = array(n + 1, sizeof(*model->firsts));
    model->starts = array(n + 2, sizeof(*model->starts));
    model->lists = array(2 * n_groups + 1, sizeof(*model->lists));
    model->is_suspect = array(n + 1, sizeof(*model->is_suspect));
    model->users = array(n_groups + 1, sizeof(*model->users));
    set_reference(model);
    set_deviations(model);
    set_lists(model);
}

void culprit_model_release(struct culprit_model *model)
{
    free(model->deviations);
    free(model->scratch);
    free(model->racks);
    free(model->firsts);
    free(model->starts);
    free(model->lists);
    free(model->is_suspect);
    free(model->users);
    free(model->suspects);
}

/* Compute the quantile of the normal distribution with Newton's method, which never
 * overshoots from a start at 0. */
double culprit_errors(double level, size_t tests)
{
    double tail = level / (double)(tests > 0 ? tests : 1), errors = 0, step = 1;

    while (step > 1e-6) {
        step = (erfc(errors / sqrt(2)) / 2 - tail) / (exp(-errors * errors / 2) * PEAK);
        errors += step;
    }
    return errors;
}

double culprit_margin(const struct culprit_model *model)
{
    double slow = model->fleet->slow;

    return log1p(-(slow > 0 ? slow : CULPRIT_SLOW));
}

double culprit_cut(const struct culprit_model *model, size_t n, double errors)
{
    double error = n < 3 ? model->noise : MEDIAN_ERROR * model->noise / sqrt((double)n);

    return fmin(culprit_margin(model), -errors * error);
}

double culprit_deviation(const struct culprit_model *model, size_t node, size_t *n)
{
    *n = 0;
    for (size_t i = model->starts[node]; i < model->starts[node + 1]; i++) {
        size_t group = model->lists[i];

        if (!isnan(model->deviations[group]) && model->users[group] == 0 &&
            !model->fleet->groups[group].confirms)
            model->scratch[(*n)++] = model->deviations[group];
    }
    order_stat_sort(model->scratch, *n);
    return *n > 0 ? model->scratch[*n / 2] : (double)NAN;
}

static bool is_of_rack(const struct culprit_model *model, const struct suspect *suspect,
                       size_t node)
{
    return model->racks[node] && model->racks[node] == model->racks[suspect->a];
}

bool culprit_explains(const struct culprit_model *model, const struct suspect *suspect,
                      size_t group_index)
{
    const struct culprit_group *group = &model->fleet->groups[group_index];
    size_t n = 0;

    for (size_t i = 0; i < 2; i++)
        n += suspect->kind == SUSPECT_RACK
                 ? is_of_rack(model, suspect, group->nodes[i])
                 : group->nodes[i] == suspect->a ||
                       (suspect->kind == SUSPECT_LINK && group->nodes[i] == suspect->b);
    if (suspect->kind == SUSPECT_RACK)
        return n > 0 && (n < 2 || suspect->is_slow_within);
    return n > (suspect->kind == SUSPECT_LINK);
}
