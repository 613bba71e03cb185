/* run_restore.c - the model of a run from its stored document */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "server/runs/run.h"
#include "server/runs/run_conditions.h"
#include "server/runs/run_edit.h"
#include "server/runs/run_nodes.h"
#include "server/runs/run_plan.h"

static int64_t time_of(const json_t *object, const char *key)
{
    return clock_parse_ms(json_get_str(object, key, NULL));
}

static char *reason_of(const json_t *object)
{
    const char *reason = json_get_str(object, "reason", NULL);

    return reason ? strdup(reason) : NULL;
}

static void restore_ranks(const struct run *run, struct run_case *c, const json_t *groups)
{
    int world_size = run_case_nodes(run, c).world_size;
    const json_t *group;
    size_t i;

    if (json_array_size(groups) == 0)
        return;
    c->ranks = calloc((size_t)world_size + 1, sizeof(*c->ranks));
    json_array_foreach (groups, i, group) {
        const json_t *ranks = json_object_get(group, "ranks");
        int64_t first = json_integer_value(json_array_get(ranks, 0));
        int64_t last = json_integer_value(json_array_get(ranks, 1));
        int state = rank_state_lookup(json_get_str(group, "state", NULL));

        for (int64_t k = first; c->ranks && k >= 0 && k <= last && k < world_size; k++) {
            c->ranks[k].state = state < 0 ? RANK_ASSIGNED : (enum rank_state)state;
            c->ranks[k].reason = reason_of(group);
        }
    }
}

static void restore_cases(struct run *run, const json_t *cases)
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        enum case_state state = case_state_lookup(json_get_str(item, "state", NULL));
        int attempt = (int)json_get_int(item, "attempt", 0);
        struct run_case *c;

        run_plan_restore(run, item);
        if (i >= run->n_cases || run_open_cases(run))
            return;
        if (state == CASE_QUEUED && attempt == 0)
            continue; /* with a pattern, or of an earlier server */
        c = &run->cases[i];
        c->state = state;
        c->attempt = attempt;
        c->reason = reason_of(item);
        c->blamed = json_incref(json_object_get(item, "blamed"));
        c->transports = json_incref(json_object_get(item, "transports"));
        c->started_ms = time_of(item, "started");
        c->ended_ms = time_of(item, "ended");
        restore_ranks(run, c, json_object_get(item, "ranks"));
        run->n_live += state == CASE_RENDEZVOUS || state == CASE_RUNNING;
        run_conditions_restore(run, c, json_object_get(item, "conditions"));
        c->is_stored = true;
    }
}

struct run *run_restore(const json_t *doc, struct error *err)
{
    const char *id = json_get_str(doc, "id", "");
    struct run *run = NULL;
    struct problems problems;
    struct run_spec *spec;

    problems_init(&problems);
    spec = run_spec_parse(json_object_get(doc, "spec"), &problems);
    if (spec)
        run = run_create(id, spec, time_of(doc, "created"));
    if (!run && problems.count > 0)
        error_set(err, ERROR_INVALID, "run %s: its stored spec is not valid any more",
                  id);
    else if (!run)
        error_set(err, ERROR_MEMORY, "out of memory");
    problems_release(&problems);
    if (!run)
        return NULL;
    json_decref(run->editable);
    run->editable = run_editable(doc);
    if (json_array_size(json_object_get(doc, "nodes")) > 0)
        run_apply(run, 0, "placed", doc);
    run_apply(run, 0, "state", doc);
    run->started_ms = time_of(doc, "started");
    run->rows_total = (size_t)json_get_int(doc, "rows_total", (int64_t)run->rows_total);
    run->is_emulated = json_get_bool(doc, "emulated", false);
    restore_cases(run, json_object_get(doc, "cases"));
    return run;
}
