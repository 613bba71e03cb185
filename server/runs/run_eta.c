/* run_eta.c - when a run under way is likely to end */
#include "server/runs/run_eta.h"

#include <math.h>

#include "server/nodes/run_groups.h"
#include "server/runs/run_plan.h"

/* Cases that have not begun; of a pattern the rounds, whose cases go side by side. */
static size_t cases_ahead(const struct run *run)
{
    size_t n = 0;

    if (run->spec->pattern != PATTERN_ALL)
        return run_plan_rounds_ahead(run);
    for (size_t i = 0; i < run->n_cases; i++)
        n += run->cases[i].state == CASE_QUEUED;
    return n;
}

json_t *run_eta_add(const struct run *run, int64_t now_ms, json_t *doc)
{
    const char *basis = NULL;
    double seconds = -1.0;
    struct series_plan plan;
    bool is_known;

    if (!doc || run_has_ended(run))
        return doc;
    if (run->pace && run->pool.n > 0) {
        /* How long a program takes, only whole cases say; so it is with rows of groups
         * that are measured side by side. */
        is_known = !run->spec->program.name && run->groups.n > 0;
        if (is_known)
            run_groups_plan(run->spec, &run->groups, &plan);
        seconds = pace_eta(run->pace, is_known ? &plan : NULL, cases_ahead(run), now_ms,
                           &basis);
    }
    json_object_set_new(
        doc, "eta_s", seconds < 0.0 ? json_null() : json_real(round(seconds * 10) / 10));
    json_object_set_new(doc, "eta_basis",
                        seconds < 0.0 || !basis ? json_null() : json_string(basis));
    return doc;
}
