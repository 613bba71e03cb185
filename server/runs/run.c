/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - builds the model of a run from its events */
#include "server/runs/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/analysis/lateness.h"
#include "server/finding/verdict.h"
#include "server/nodes/run_groups.h"
#include "server/runs/blame.h"
#include "server/runs/run_conditions.h"
#include "server/runs/run_edit.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"
#include "server/summary/result_record.h"

static const char *const run_states[RUN_STATE_COUNT] = {
    [RUN_QUEUED] = "queued",
    [RUN_LAUNCHING] = "launching",
    [RUN_WAITING_FOR_NODES] = "waiting_for_nodes",
    [RUN_RENDEZVOUS] = "rendezvous",
    [RUN_RUNNING] = "running",
    [RUN_COMPLETED] = "completed",
    [RUN_FAILED] = "failed",
    [RUN_CANCELLED] = "cancelled",
};

static const char *const case_states[CASE_STATE_COUNT] = {
    [CASE_QUEUED] = "queued",   [CASE_RENDEZVOUS] = "rendezvous",
    [CASE_RUNNING] = "running", [CASE_COMPLETED] = "completed",
    [CASE_FAILED] = "failed",   [CASE_CANCELLED] = "cancelled",
    [CASE_SKIPPED] = "skipped",
};

static const char *const rank_states[RANK_STATE_COUNT] = {
    [RANK_ASSIGNED] = "assigned",   [RANK_SPAWNED] = "spawned", [RANK_JOINED] = "joined",
    [RANK_CONNECTED] = "connected", [RANK_RUNNING] = "running", [RANK_DONE] = "done",
    [RANK_FAILED] = "failed",
};

static int lookup(const char *const *names, int count, const char *name)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *run_state_name(enum run_state state)
{
    return run_states[state];
}

const char *case_state_name(enum case_state state)
{
    return case_states[state];
}

const char *rank_state_name(enum rank_state state)
{
    return rank_states[state];
}

enum case_state case_state_lookup(const char *name)
{
    int state = lookup(case_states, CASE_STATE_COUNT, name);

    return state < 0 ? CASE_QUEUED : (enum case_state)state;
}

int rank_state_lookup(const char *name)
{
    return lookup(rank_states, RANK_STATE_COUNT, name);
}

struct run *run_create(const char *id, struct run_spec *spec, int64_t created_ms)
{
    struct run *run = memory_zeroed(1, sizeof(*run), "a run");

    snprintf(run->id, sizeof(run->id), "%s", id);
    run->spec = spec;
    run->created_ms = created_ms;
    run->n_cases = spec->pattern == PATTERN_ALL ? run_matrix_cases(spec) : 0;
    run->curve = json_array();
    run->nodes = json_array();
    run->own_verdicts = json_array();
    run->verdicts = json_array();
    run->editable = json_pack("{s:O, s:s}", "labels", spec->labels, "notes", "");
    return run;
}

struct run *run_create_again(const json_t *doc, struct error *err)
{
    const char *id = json_get_str(doc, "id", "");
    struct problems problems;
    struct run_spec *spec;

    problems_init(&problems);
    spec = run_spec_parse(json_object_get(doc, "spec"), &problems);
    problems_release(&problems);
    if (spec)
        return run_create(id, spec, clock_parse_ms(json_get_str(doc, "created", NULL)));
    error_set(err, ERROR_INVALID, "run %s: its stored spec is no longer valid", id);
    return NULL;
}

/* Allocate the cases when a case is first changed. Thousands of waiting runs with a
 * thousand cases each therefore need no memory for cases. */
static void run_open_cases(struct run *run)
{
    if (!run->cases)
        run->cases = memory_zeroed(run->n_cases + 1, sizeof(*run->cases), "cases");
}

size_t run_case_turn(const struct run *run, size_t index)
{
    return run->spec->pattern == PATTERN_ALL
               ? index
               : run->cases[index].round % run_matrix_cases(run->spec);
}

size_t run_begun_cases(const struct run *run)
{
    size_t n = run->cases ? run->n_cases : 0;

    while (n > 0 && run->cases[n - 1].state == CASE_QUEUED &&
           run->cases[n - 1].attempt == 0 && !run->cases[n - 1].on.items &&
           !run->cases[n - 1].confirms)
        n--;
    return n;
}

static void forget_ranks(const struct run *run, struct run_case *c)
{
    int world_size = run_case_nodes(run, c).world_size;

    for (int i = 0; c->ranks && i < world_size; i++)
        free(c->ranks[i].reason);
    free(c->ranks);
    c->ranks = NULL;
}

static void release_ranks(const struct run *run, struct run_case *c)
{
    forget_ranks(run, c);
    run_conditions_release(run, c);
}

static void forget_packed(const struct run *run, int64_t index)
{
    if (!run->cases || index < 0 || (size_t)index >= run->n_cases)
        return;
    json_decref(run->cases[index].packed);
    run->cases[index].packed = NULL;
}

static void release_nodes(struct run *run)
{
    for (size_t i = 0; i < run->pool.n; i++) {
        free(run->pool.items[i].name);
        json_decref(run->pool.items[i].labels);
    }
    free(run->pool.items);
    run->pool = (struct run_nodes){NULL, 0, 0};
}

void run_destroy(struct run *run)
{
    if (!run)
        return;
    for (size_t i = 0; run->cases && i < run->n_cases; i++) {
        release_ranks(run, &run->cases[i]);
        free(run->cases[i].reason);
        free(run->cases[i].first_wrong);
        free(run->cases[i].on.items);
        headline_release(&run->cases[i].headline);
        json_decref(run->cases[i].packed);
        json_decref(run->cases[i].blamed);
        json_decref(run->cases[i].transports);
    }
    free(run->cases);
    release_nodes(run);
    split_release(&run->groups);
    json_decref(run->machines);
    json_decref(run->own_verdicts);
    json_decref(run->verdicts);
    run_spec_destroy(run->spec);
    free(run->reason);
    free(run->backend);
    json_decref(run->curve);
    json_decref(run->nodes);
    json_decref(run->editable);
    lateness_destroy(run->late);
    headline_release(&run->headline);
    free(run->pace);
    run_metrics_release(&run->metrics);
    free(run);
}

bool run_has_ended(const struct run *run)
{
    return run->state >= RUN_COMPLETED;
}

bool case_has_ended(const struct run_case *c)
{
    return c->state >= CASE_COMPLETED;
}

static void replace_text(char **field, const char *text)
{
    char *copy = memory_text(text, "a reason");

    free(*field);
    *field = copy;
}

/* Set the run's verdicts. Takes ownership of `all`. */
static void set_verdicts(struct run *run, json_t *all)
{
    json_decref(run->verdicts);
    run->verdicts = verdicts_sorted(all);
    json_decref(all);
}

static void add_verdicts(json_t *all, const struct run_case *c)
{
    json_array_append(all, json_object_get(c->blamed, "verdict"));
    json_array_extend(all, json_object_get(c->transports, "verdicts"));
}

static void list_verdicts(struct run *run)
{
    json_t *all = json_copy(run->own_verdicts);

    for (size_t i = 0; run->cases && i < run->n_cases; i++)
        add_verdicts(all, &run->cases[i]);
    set_verdicts(run, all);
}

/* Set a case's verdicts. There may be ten thousand cases, so the run's list is rebuilt
 * only if the case already had verdicts. */
static void set_case_verdicts(struct run *run, struct run_case *c, const json_t *body)
{
    bool had_some = c->blamed || c->transports;
    json_t *all;

    json_decref(c->blamed);
    c->blamed = json_incref(json_object_get(body, "blamed"));
    json_decref(c->transports);
    c->transports = json_incref(json_object_get(body, "transports"));
    if (had_some) {
        list_verdicts(run);
        return;
    }
    if (!c->blamed && !c->transports)
        return;
    all = json_copy(run->verdicts);
    add_verdicts(all, c);
    set_verdicts(run, all);
}

static void fold_state(struct run *run, int64_t time_ms, const json_t *body)
{
    int state = lookup(run_states, RUN_STATE_COUNT, json_get_str(body, "state", NULL));

    if (state < 0)
        return;
    run->state = (enum run_state)state;
    replace_text(&run->reason, json_get_str(body, "reason", NULL));
    if (state == RUN_RENDEZVOUS && !run->started_ms)
        run->started_ms = run->ran_at_ms = time_ms;
    if (!run_has_ended(run))
        return;
    run->ended_ms = time_ms;
    json_array_extend(run->own_verdicts, json_object_get(body, "verdicts"));
    list_verdicts(run);
}

/* Split the nodes' ranks into groups, and count the resulting rows. */
static void form_groups(struct run *run)
{
    long *ranks = memory_zeroed(run->pool.n + 1, sizeof(*ranks), "ranks");

    for (size_t i = 0; i < run->pool.n; i++)
        ranks[i] = run->pool.items[i].ranks;
    split_release(&run->groups);
    if (run->pool.world_size > 0) {
        run->rows_total = run_plan_rows(run->spec, ranks, run->pool.n);
        if (run->spec->pattern == PATTERN_ALL)
            run_groups_form(run->spec, ranks, run->pool.n, &run->groups);
    }
    free(ranks);
}

static void fold_placed(struct run *run, int64_t time_ms, const json_t *body)
{
    const json_t *nodes = json_object_get(body, "nodes");
    size_t count = json_array_size(nodes);
    int rank = 0;

    (void)time_ms;
    run_open_cases(run);
    for (size_t i = 0; i < run->n_cases; i++)
        release_ranks(run, &run->cases[i]);
    release_nodes(run);
    run->pool.items = memory_zeroed(count + 1, sizeof(*run->pool.items), "nodes");
    for (size_t i = 0; i < count; i++) {
        const json_t *node = json_array_get(nodes, i);

        run->pool.items[i].name = memory_text(json_get_str(node, "name", "?"), "a node");
        run->pool.items[i].ranks = (int)json_get_int(node, "ranks", 0);
        run->pool.items[i].first_rank = rank;
        run->pool.items[i].number = i;
        run->pool.items[i].labels = json_incref(json_object_get(node, "labels"));
        rank += run->pool.items[i].ranks;
        run->pool.n++;
    }
    run->pool.world_size = rank;
    for (size_t i = 0; i < run->n_cases; i++)
        forget_packed(run, (int64_t)i);
    json_decref(run->nodes);
    run->nodes = nodes ? json_incref((json_t *)(uintptr_t)nodes) : json_array();
    replace_text(&run->backend, json_get_str(body, "backend", NULL));
    json_decref(run->machines);
    run->machines = json_incref(json_object_get(body, "machines"));
    json_array_clear(run->own_verdicts);
    json_array_extend(run->own_verdicts, json_object_get(body, "verdicts"));
    list_verdicts(run);
    form_groups(run);
}

/* Return the case that an event is about to change; NULL if its index is invalid. */
static struct run_case *case_at(struct run *run, int64_t index)
{
    if (index < 0 || (size_t)index >= run->n_cases)
        return NULL;
    run_open_cases(run);
    return &run->cases[index];
}

static struct run_case *case_of(struct run *run, const json_t *body)
{
    return case_at(run, json_get_int(body, "case", -1));
}

static void case_begins(struct run *run, struct run_case *c, int64_t time_ms)
{
    release_ranks(run, c);
    c->ranks = memory_zeroed((size_t)run_case_nodes(run, c).world_size + 1,
                             sizeof(*c->ranks), "ranks of a case");
    c->started_ms = time_ms;
    if (!run->pace)
        run->pace = pace_create();
    if (run->n_live == 0)
        pace_case_begins(run->pace, time_ms);
    run->n_live++;
}

/* Record that a case is no longer under way. In the estimate of the remaining time,
 * parallel cases count as one case. */
static void case_leaves(struct run *run, const struct run_case *c, int64_t time_ms)
{
    run->n_live--;
    if (run->pace && run->n_live == 0 && case_has_ended(c))
        pace_case_ends(run->pace, time_ms, c->state == CASE_COMPLETED);
}

static bool is_live(const struct run_case *c)
{
    return c->state == CASE_RENDEZVOUS || c->state == CASE_RUNNING;
}

static void fold_case(struct run *run, int64_t time_ms, const json_t *body)
{
    struct run_case *c = case_of(run, body);
    int state = lookup(case_states, CASE_STATE_COUNT, json_get_str(body, "state", NULL));
    bool was_live;

    if (!c || state < 0)
        return;
    was_live = is_live(c);
    c->state = (enum case_state)state;
    c->attempt = (int)json_get_int(body, "attempt", c->attempt);
    replace_text(&c->reason, json_get_str(body, "reason", NULL));
    set_case_verdicts(run, c, body);
    if (state == CASE_RENDEZVOUS)
        case_begins(run, c, time_ms);
    if (case_has_ended(c))
        c->ended_ms = time_ms;
    /* A completed case's ranks are all done, and there may be thousands of them. */
    if (state == CASE_COMPLETED && c->on.items)
        forget_ranks(run, c);
    if (was_live && !is_live(c))
        case_leaves(run, c, time_ms);
}

static void set_rank(const struct run *run, struct run_case *c, int64_t rank,
                     const json_t *body)
{
    int state = rank_state_lookup(json_get_str(body, "state", NULL));

    if (!c || !c->ranks || rank < 0 || rank >= run_case_nodes(run, c).world_size ||
        state < 0)
        return;
    c->ranks[rank].state = (enum rank_state)state;
    replace_text(&c->ranks[rank].reason, json_get_str(body, "reason", NULL));
}

static void fold_rank(struct run *run, int64_t time_ms, const json_t *body)
{
    (void)time_ms;
    set_rank(run, case_of(run, body), json_get_int(body, "rank", -1), body);
}

/* Apply a `ranks` event: ranks of one node have reached a state. */
static void fold_ranks(struct run *run, int64_t time_ms, const json_t *body)
{
    struct run_case *c = case_of(run, body);
    const json_t *ranks = json_object_get(body, "ranks"), *rank;
    size_t i;

    (void)time_ms;
    json_array_foreach (ranks, i, rank)
        set_rank(run, c, json_integer_value(rank), body);
}

/* Record the location of the case's first wrong element. */
static void note_wrong(struct run_case *c, const json_t *body)
{
    const json_t *first = json_array_get(json_object_get(body, "errors"), 0);
    char text[256];

    if (c->first_wrong)
        return;
    snprintf(text, sizeof(text),
             "%s of %lld bytes: rank %lld, index %lld: expected %.40s, got %.40s",
             json_get_str(body, "collective", "?"),
             (long long)json_get_int(body, "size", 0),
             (long long)json_get_int(first, "rank", -1),
             (long long)json_get_int(first, "index", -1),
             json_get_str(first, "expected", "?"), json_get_str(first, "got", "?"));
    c->first_wrong = memory_text(text, "a wrong element");
    c->first_wrong_rank = (int)json_get_int(first, "rank", -1);
}

static void count(struct run *run, struct run_case *c, const struct result_record *record,
                  const json_t *about)
{
    bool has_pattern = run->spec->pattern != PATTERN_ALL;
    size_t index = (size_t)(c - run->cases);
    struct certainty certainty;

    run->rows_done++;
    if (record->is_skipped) {
        run->rows_skipped++;
        return;
    }
    if (json_get_bool(about, "emulated", false))
        run->is_emulated = true;
    if (record->is_figure) {
        if (!has_pattern)
            run_metrics_add(&run->metrics, about, record->value, record->rank);
        return;
    }
    /* Do not count alltoallv: its matrix may move nothing between nodes. */
    if (strcmp(json_get_str(about, "collective", ""), "alltoallv") != 0)
        carried_add_row(&c->carried, record->attempt, record->size);
    certainty = result_record_certainty(record);
    noise_add(&run->noise, &certainty, run->spec->noise_limit);
    if (has_pattern)
        headline_add(&c->headline, about, record->size, record->busbw_gbs, &certainty);
    else if (run_matrix_combination(run->spec, index) == 0)
        headline_add(&run->headline, about, record->size, record->busbw_gbs, &certainty);
    if (record->wrong > 0) {
        run->wrong = result_record_add_wrong(run->wrong, record->wrong);
        c->wrong = result_record_add_wrong(c->wrong, record->wrong);
    }
    if (index == 0 && !has_pattern && json_get_int(about, "series", -1) == 0 &&
        record->cycle <= 0)
        json_array_append_new(
            run->curve, json_pack("[I, f]", (json_int_t)record->size, record->busbw_gbs));
}

static const char *node_of_rank(const void *arg, int rank)
{
    const struct run *run = arg;
    const struct run_node *node = run_nodes_of_rank(&run->pool, rank);

    return node ? node->name : NULL;
}

static void note_row(struct run *run, const json_t *row)
{
    if (run->spec->timing != TIMING_ISOLATED || run->spec->pattern != PATTERN_ALL ||
        run->pool.world_size < 2)
        return;
    if (!run->late)
        run->late = lateness_create((size_t)run->pool.world_size,
                                    run->spec->late_percent / 100, node_of_rank, run);
    lateness_add(run->late, row);
}

json_t *run_lateness(const struct run *run)
{
    return run->late ? lateness_verdict(run->late) : NULL;
}

void run_fold_result(struct run *run, const struct result_record *record,
                     const json_t *about, const json_t *body)
{
    struct run_case *c = case_at(run, record->case_no);

    if (!c)
        return;
    if (run->spec->pattern != PATTERN_ALL)
        forget_packed(run, record->case_no); /* the row changes the case's headline */
    if (run->pace && run->spec->pattern == PATTERN_ALL)
        pace_result(run->pace, record->time_ms, about, record->size, record->row);
    count(run, c, record, about);
    if (!body)
        return;
    note_row(run, body);
    if (record->wrong > 0)
        note_wrong(c, body);
}

static void fold_result(struct run *run, int64_t time_ms, const json_t *body)
{
    struct result_record record;

    if (!json_object_get(body, "case"))
        return;
    result_record_figures(body, &record);
    record.time_ms = time_ms;
    run_fold_result(run, &record, body, record.has_more ? body : NULL);
}

static void fold_conditions(struct run *run, int64_t time_ms, const json_t *body)
{
    struct run_case *c = case_of(run, body);

    (void)time_ms;
    if (!c)
        return;
    run_conditions_take(run, c, body);
    carried_add_node(&c->carried, body);
}

static void fold_edit(struct run *run, int64_t time_ms, const json_t *body)
{
    json_t *edited = run_edit_apply(run->editable, json_object_get(body, "after"));

    (void)time_ms;
    json_decref(run->editable);
    run->editable = edited;
}

static void fold_plan(struct run *run, int64_t time_ms, const json_t *body)
{
    (void)time_ms;
    run_plan_take(run, body);
}

/* Record the run time in the message, which was measured with the monotonic clock. */
static void fold_message(struct run *run, int64_t time_ms, const json_t *body)
{
    const json_t *ran = json_object_get(body, "ran_ms");

    if (!json_is_integer(ran))
        return;
    run->ran_ms = json_integer_value(ran);
    run->ran_at_ms = time_ms;
}

void run_fold(struct run *run, int64_t time_ms, const char *type, const json_t *body)
{
    static const struct {
        const char *type;
        void (*fold)(struct run *run, int64_t time_ms, const json_t *body);
    } folds[] = {
        {"state", fold_state},     {"placed", fold_placed},
        {"plan", fold_plan},       {"case", fold_case},
        {"rank", fold_rank},       {"ranks", fold_ranks},
        {"result", fold_result},   {"conditions", fold_conditions},
        {"message", fold_message}, {"edit", fold_edit},
    };

    if (strcmp(type, "result") != 0)
        forget_packed(run, json_get_int(body, "case", -1));
    for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]); i++)
        if (strcmp(type, folds[i].type) == 0)
            folds[i].fold(run, time_ms, body);
}
