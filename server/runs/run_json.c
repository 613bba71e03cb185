/* SPDX-License-Identifier: Apache-2.0 */
/* run_json.c - writes a run as docs/reference/api.md describes it */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/run_matrix.h"
#include "server/runs/run.h"
#include "server/runs/run_conditions.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"

static json_t *time_json(int64_t ms)
{
    char text[CLOCK_TEXT_MAX];

    return ms ? json_string(clock_format_ms(ms, text)) : json_null();
}

static bool is_alike(const struct run_rank *a, const struct run_rank *b)
{
    return a->state == b->state &&
           (a->reason == b->reason ||
            (a->reason && b->reason && strcmp(a->reason, b->reason) == 0));
}

/* Combine neighbouring ranks with the same state and reason: there may be ten thousand
 * ranks, mostly all done. */
static json_t *ranks_json(const struct run *run, const struct run_case *c)
{
    int n = c->ranks ? run_case_nodes(run, c).world_size : 0, first = 0;
    json_t *out = json_array();

    for (int i = 1; i <= n; i++) {
        const struct run_rank *rank = &c->ranks[first];

        if (i < n && is_alike(rank, &c->ranks[i]))
            continue;
        json_array_append_new(out, json_pack("{s:[i, i], s:s, s:o?}", "ranks", first,
                                             i - 1, "state", rank_state_name(rank->state),
                                             "reason", json_clean_string(rank->reason)));
        first = i;
    }
    return out;
}

static json_t *case_json(const struct run *run, size_t index)
{
    static const struct run_case waiting;
    const struct run_case *c = run->cases ? &run->cases[index] : &waiting;
    size_t turn = run_case_turn(run, index);
    json_t *env = run_matrix_env(run->spec, turn);
    json_t *out =
        json_pack("{s:i, s:i, s:i, s:s, s:s?, s:o, s:o}", "case", (int)index, "repeat",
                  run_matrix_repeat(run->spec, turn), "attempt", c->attempt, "state",
                  case_state_name(c->state), "reason", c->reason, "started",
                  time_json(c->started_ms), "ended", time_json(c->ended_ms));

    if (env)
        json_object_set_new(out, "env", env);
    if (c->on.items) {
        json_object_set_new(out, "nodes", run_nodes_names(&c->on));
        json_object_set_new(out, "round", json_integer((json_int_t)c->round));
        json_object_set_new(out, "headline", headline_json(&c->headline));
    }
    if (c->confirms)
        json_object_set_new(out, "confirms", json_true());
    if (c->blamed)
        json_object_set(out, "blamed", c->blamed);
    if (c->transports)
        json_object_set(out, "transports", c->transports);
    if (c->conditions)
        json_object_set_new(out, "conditions", run_conditions_json(run, c));
    json_object_set_new(out, "ranks", ranks_json(run, c));
    return out;
}

/* Return a case in packed form. The text is cached until an event changes the case, since
 * there may be ten thousand cases. */
static json_t *packed_case(const struct run *run, size_t index)
{
    struct run_case *c = run->cases ? &run->cases[index] : NULL;
    json_t *doc, *packed;
    char *text;

    if (c && c->packed)
        return json_incref(c->packed);
    doc = case_json(run, index);
    text = json_text(doc);
    packed = text ? json_string_nocheck(text) : NULL;
    if (!packed)
        memory_out("a case's document");
    if (c)
        c->packed = json_incref(packed);
    free(text);
    json_decref(doc);
    return packed;
}

static json_t *cases_json(const struct run *run, enum run_form form)
{
    json_t *cases = json_array();

    for (size_t i = 0; form != RUN_STORED && i < run->n_cases; i++)
        json_array_append_new(cases, form == RUN_PACKED ? packed_case(run, i)
                                                        : case_json(run, i));
    return cases;
}

static json_t *summary_json(const struct run *run)
{
    json_t *headline = headline_json(&run->headline), *out;
    int count[CASE_STATE_COUNT] = {0};

    if (json_is_null(headline))
        headline = run_metrics_headline(&run->metrics);

    for (size_t i = 0; run->cases && i < run->n_cases; i++)
        count[run->cases[i].state]++;
    out = json_pack(
        "{s:o, s:o, s:I, s:I, s:{s:i, s:i, s:i, s:i}, s:o}", "headline", headline,
        "noise",
        noise_json(&run->noise, headline_half(&run->headline), run->spec->noise_limit),
        "wrong", (json_int_t)run->wrong, "skipped", (json_int_t)run->rows_skipped,
        "cases", "completed", count[CASE_COMPLETED], "failed", count[CASE_FAILED],
        "cancelled", count[CASE_CANCELLED], "skipped", count[CASE_SKIPPED], "curve",
        json_copy(run->curve)); /* copied, because the curve still grows */
    if (run->spec->program.name)
        json_object_set_new(out, "metrics", run_metrics_json(&run->metrics));
    return out;
}

static json_t *collectives_json(const struct run_spec *spec)
{
    json_t *names = json_array();

    for (size_t i = 0; !spec->program.name && i < spec->n_collectives; i++)
        json_array_append_new(names, json_string(collective_name(spec->collectives[i])));
    return names;
}

json_t *run_to_json(const struct run *run, enum run_form form)
{
    json_t *out = json_pack(
        "{s:s, s:s, s:O, s:O, s:s, s:s?, s:o, s:o, s:o, s:s?, s:i, s:o, s:O}", "id",
        run->id, "name", run->spec->name, "labels",
        json_object_get(run->editable, "labels"), "notes",
        json_object_get(run->editable, "notes"), "state", run_state_name(run->state),
        "reason", run->reason, "created", time_json(run->created_ms), "started",
        time_json(run->started_ms), "ended", time_json(run->ended_ms), "backend",
        run->backend, "world_size", run->pool.world_size, "collectives",
        collectives_json(run->spec), "nodes", run->nodes);

    if (form != RUN_BRIEF) {
        json_object_set_new(out, "spec", run_spec_to_json(run->spec));
        json_object_set_new(out, "cases", cases_json(run, form));
        if (run->machines)
            json_object_set(out, "machines", run->machines);
    }
    if (run->spec->program.name)
        json_object_set_new(out, "program", json_string(run->spec->program.name));
    if (run->spec->pattern != PATTERN_ALL) {
        json_object_set_new(out, "pattern",
                            json_string(run_pattern_name(run->spec->pattern)));
        json_object_set_new(out, "cases_total",
                            json_integer((json_int_t)run_plan_cases(run)));
    }
    if (run->is_emulated)
        json_object_set_new(out, "emulated", json_true());
    if (run->groups.n > 1)
        json_object_set_new(out, "groups", split_groups_json(&run->groups));
    json_object_set_new(out, "rows_done", json_integer((json_int_t)run->rows_done));
    json_object_set_new(out, "rows_total", json_integer((json_int_t)run->rows_total));
    json_object_set_new(out, "summary", summary_json(run));
    json_object_set(out, "verdicts", run->verdicts);
    return out;
}
