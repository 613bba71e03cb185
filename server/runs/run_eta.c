/* run_eta.c - when a run under way is likely to end */
#include "server/runs/run_eta.h"

#include <math.h>

#include "server/nodes/run_groups.h"

/* Cases that have not begun. */
static size_t cases_ahead(const struct run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_cases; i++)
        n += run->cases[i].state == CASE_QUEUED;
    return n;
}

json_t *run_eta_add(const struct run *run, int64_t now_ms, json_t *doc)
{
    const char *basis = NULL;
    double seconds = -1.0;
    struct series_plan plan;

    if (!doc || run_has_ended(run))
        return doc;
    if (run->pace && run->groups.n > 0) {
        run_groups_plan(run->spec, &run->groups, &plan);
        /* Control series are like a program: how long they take, only whole cases say. */
        bool is_known = !run->spec->program.name && run->spec->control.kinds == 0;

        seconds = pace_eta(run->pace, is_known ? &plan : NULL, cases_ahead(run), now_ms,
                           &basis);
    }
    json_object_set_new(
        doc, "eta_s", seconds < 0.0 ? json_null() : json_real(round(seconds * 10) / 10));
    json_object_set_new(doc, "eta_basis",
                        seconds < 0.0 || !basis ? json_null() : json_string(basis));
    return doc;
}
