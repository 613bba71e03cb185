/* SPDX-License-Identifier: Apache-2.0 */
/* run_plan.c - plans the later cases of a run: the rounds of a pattern, and repeated
 * measurements without a pattern */
#include "server/runs/run_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/finding/verdict.h"
#include "server/nodes/run_groups.h"
#include "server/plan/plan.h"
#include "server/runs/run_nodes.h"

/* ---- New cases ---- */

static int place_case(const struct run *run, struct run_case *c, const json_t *names)
{
    size_t n = json_array_size(names);
    struct run_node *items = memory_zeroed(n + 1, sizeof(*items), "nodes of a case");
    int rank = 0;

    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const struct run_node *node = run_nodes_find(&run->pool, name ? name : "");

        if (!node) {
            free(items);
            return -1;
        }
        items[i] = *node;
        items[i].first_rank = rank;
        rank += node->ranks;
    }
    c->on = (struct run_nodes){items, n, rank};
    return 0;
}

/* Add a case. about: an object with the case's "round" and "confirms". */
static void add_case(struct run *run, const json_t *about, const json_t *names)
{
    int64_t round = json_get_int(about, "round", -1);
    struct run_case c = {.round = round > 0 ? (size_t)round : 0,
                         .confirms = json_get_bool(about, "confirms", false)};

    /* Without a pattern, only repeated cases are added, after all original cases
     * exist. */
    if (run->spec->pattern == PATTERN_ALL ? !run->cases || !c.confirms
                                          : round < 0 || place_case(run, &c, names))
        return;
    run->cases =
        memory_resized(run->cases, run->n_cases + 1, sizeof(*run->cases), "cases");
    run->cases[run->n_cases++] = c;
}

void run_plan_take(struct run *run, const json_t *body)
{
    const json_t *cases = json_object_get(body, "cases");

    run->rows_total = (size_t)json_get_int(body, "rows_total", (int64_t)run->rows_total);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);

        if (json_get_int(c, "case", -1) == (int64_t)run->n_cases)
            add_case(run, body, json_object_get(c, "nodes"));
    }
}

json_t *run_plan_again(const struct run *run)
{
    json_t *cases = json_array();

    for (size_t i = 0; i < run->n_cases; i++)
        json_array_append_new(
            cases, json_pack("{s:I}", "case", (json_int_t)run->n_cases + (json_int_t)i));
    return json_pack("{s:i, s:b, s:I, s:o}", "round", 0, "confirms", 1, "rows_total",
                     2 * (json_int_t)run->rows_done, "cases", cases);
}

bool run_plan_confirms(const struct run *run)
{
    return run->cases && run->n_cases > 0 && run->cases[run->n_cases - 1].confirms;
}

/* ---- Rows ---- */

static size_t group_rows(const struct run_spec *spec, const long *ranks, size_t n)
{
    struct split_groups groups = {0};
    size_t rows;

    run_groups_form(spec, ranks, n, &groups);
    rows = run_groups_rows(spec, &groups);
    split_release(&groups);
    return rows;
}

/* Return the run's number of rows, including the rows of a new round. rows_total already
 * includes the expected rounds, but not the rounds that follow up on slow nodes. */
static size_t rows_with(const struct run *run, size_t number,
                        const struct plan_round *round)
{
    size_t expected =
        plan_size(run->spec, run->pool.n).rounds * run_matrix_cases(run->spec);
    long *ranks = memory_zeroed(run->pool.n + 1, sizeof(*ranks), "ranks");
    const size_t *nodes = round->nodes;
    size_t rows = run->rows_total;

    for (size_t i = 0; number >= expected && i < round->n; i++) {
        for (size_t k = 0; k < round->sizes[i]; k++)
            ranks[k] = run->pool.items[*nodes++].ranks;
        rows += group_rows(run->spec, ranks, round->sizes[i]);
    }
    free(ranks);
    return rows;
}

/* ---- The next round ---- */

/* The earlier cases, in the format that the plan needs. */
struct past {
    struct culprit_node *names;
    struct culprit_group *groups;
    size_t *rounds; /* for each group: its round in the plan */
    size_t n;
};

static void past_release(struct past *past)
{
    free(past->names);
    free(past->groups);
    free(past->rounds);
}

/* Return the group of an earlier repeat in the same round of the plan, or NULL. */
static struct culprit_group *find_group(const struct past *past, size_t round,
                                        const struct run_nodes *on)
{
    for (size_t i = past->n; i > 0 && past->rounds[i - 1] == round; i--) {
        struct culprit_group *group = &past->groups[i - 1];

        if (group->nodes[0] == on->items[0].number)
            return group;
    }
    return NULL;
}

/* Return the case's state for the plan. A completed case without a value counts as
 * failed. */
static enum culprit_state state_of(const struct run_case *c)
{
    if (c->state == CASE_COMPLETED && median_of(&c->headline.busbw_gbs) > 0.0)
        return CULPRIT_RAN;
    return c->state == CASE_COMPLETED || c->state == CASE_FAILED ? CULPRIT_FAILED
                                                                 : CULPRIT_NOT_RUN;
}

/* Merge a repeat into its group. The group's value is the mean over its repeats; the
 * group counts as failed if a repeat failed. */
static void add_repeat(struct culprit_group *group, const struct run_case *c, size_t turn)
{
    double value = median_of(&c->headline.busbw_gbs);

    if (group->state == CULPRIT_RAN)
        group->state = state_of(c);
    group->figure += (value - group->figure) / (double)(turn + 1);
}

static void add_past(struct past *past, const struct run_case *c, size_t turns)
{
    size_t turn = c->round % turns, round = c->round / turns;
    struct culprit_group *group = turn > 0 ? find_group(past, round, &c->on) : NULL;

    assert(c->on.n == 2);
    if (group) {
        add_repeat(group, c, turn);
        return;
    }
    past->rounds[past->n] = round;
    past->groups[past->n++] =
        (struct culprit_group){.nodes = {c->on.items[0].number, c->on.items[1].number},
                               .figure = median_of(&c->headline.busbw_gbs),
                               .state = state_of(c),
                               .confirms = c->confirms};
}

/* Collect the cases so far. Only a pattern that searches for a culprit needs measured
 * values. */
static void collect_past(const struct run *run, struct past *past)
{
    size_t turns = run_matrix_cases(run->spec);

    past->n = 0;
    past->names = memory_zeroed(run->pool.n + 1, sizeof(*past->names), "a plan");
    past->groups = memory_zeroed(run->n_cases + 1, sizeof(*past->groups), "a plan");
    past->rounds = memory_zeroed(run->n_cases + 1, sizeof(*past->rounds), "a plan");
    for (size_t i = 0; i < run->pool.n; i++)
        past->names[i] =
            (struct culprit_node){run->pool.items[i].name, run->pool.items[i].labels};
    for (size_t i = 0; plan_seeks_culprit(run->spec->pattern) && i < run->n_cases; i++)
        add_past(past, &run->cases[i], turns);
}

static struct culprit_fleet fleet_of(const struct run *run, const struct past *past)
{
    return (struct culprit_fleet){.nodes = past->names,
                                  .n_nodes = run->pool.n,
                                  .groups = past->groups,
                                  .n_groups = past->n,
                                  .slow = run->spec->slow_percent / 100,
                                  .slow_together = run->spec->slow_together,
                                  .unit = "GB/s",
                                  .mark = verdict_mark(run->backend, run->is_emulated)};
}

/* Return the number of groups that were known when this round was first planned. If the
 * round is planned again, its own results must not affect the plan. */
static size_t before(const struct past *past, size_t round)
{
    size_t n = past->n;

    while (n > 0 && past->rounds[n - 1] >= round)
        n--;
    return n;
}

static json_t *round_json(const struct run *run, size_t number,
                          const struct plan_round *round)
{
    json_t *cases = json_array();
    const size_t *nodes = round->nodes;

    for (size_t i = 0; i < round->n; i++) {
        json_t *names = json_array();

        for (size_t k = 0; k < round->sizes[i]; k++)
            json_array_append_new(names, json_string(run->pool.items[*nodes++].name));
        json_array_append_new(cases, json_pack("{s:I, s:o}", "case",
                                               (json_int_t)run->n_cases + (json_int_t)i,
                                               "nodes", names));
    }
    return json_pack("{s:I, s:b, s:I, s:o}", "round", (json_int_t)number, "confirms",
                     round->confirms, "rows_total",
                     (json_int_t)rows_with(run, number, round), "cases", cases);
}

json_t *run_plan_next(const struct run *run, const bool *is_lost)
{
    size_t turns = run_matrix_cases(run->spec);
    size_t number = run->n_cases ? run->cases[run->n_cases - 1].round + 1 : 0;
    struct past past = {0};
    struct plan_round round;
    struct plan_pool pool;
    json_t *body = NULL;

    if (run->spec->pattern == PATTERN_ALL)
        return NULL;
    collect_past(run, &past);
    pool = (struct plan_pool){.pattern = run->spec->pattern,
                              .is_lost = is_lost,
                              .fleet = fleet_of(run, &past),
                              .rounds = past.rounds,
                              .n_rounds = (size_t)run->spec->rounds};
    pool.fleet.n_groups = before(&past, number / turns);
    plan_round_make(&pool, number / turns, &round);
    if (round.n > 0)
        body = round_json(run, number, &round);
    plan_round_release(&round);
    past_release(&past);
    return body;
}

json_t *run_plan_verdict(const struct run *run)
{
    struct past past = {0};
    struct culprit_fleet fleet;
    json_t *verdict;

    if (!plan_seeks_culprit(run->spec->pattern) || run->spec->program.name ||
        run->pool.n == 0)
        return NULL;
    collect_past(run, &past);
    fleet = fleet_of(run, &past);
    verdict = culprit_verdict(&fleet);
    past_release(&past);
    return verdict;
}

/* ---- Expected sizes ---- */

/* If all groups have the same size, assume that they all produce the same number of
 * rows. */
size_t run_plan_rows(const struct run_spec *spec, const long *ranks, size_t n)
{
    struct plan_size size = plan_size(spec, n);
    struct plan_pool pool = {.pattern = spec->pattern, .fleet = {.n_nodes = n}};
    size_t rows = 0;

    if (size.smallest == size.largest && n > 0)
        return group_rows(spec, ranks, size.largest) * plan_cases(spec, n);
    for (size_t i = 0; i < size.rounds; i++) {
        struct plan_round round;

        plan_round_make(&pool, i, &round);
        if (round.n > 0)
            rows += group_rows(spec, ranks, round.sizes[0]) * round.n;
        plan_round_release(&round);
    }
    return rows * run_matrix_cases(spec);
}

size_t run_plan_cases(const struct run *run)
{
    size_t cases = run->pool.n ? plan_cases(run->spec, run->pool.n) : 0;

    return run->n_cases > cases ? run->n_cases : cases;
}

size_t run_plan_rounds_ahead(const struct run *run)
{
    size_t rounds =
        plan_size(run->spec, run->pool.n).rounds * run_matrix_cases(run->spec);
    size_t begun = run->n_cases ? run->cases[run->n_cases - 1].round + 1 : 0;

    return rounds > begun ? rounds - begun : 0;
}
