/* SPDX-License-Identifier: Apache-2.0 */
/* run_listed.c - shortens a run's document for a list of runs */
#include "server/store/run_listed.h"

#include <stdint.h>

/* Maximum number of points of the curve in a list. The list draws it with a few dozen
 * pixels, while a run may contain thousands of sizes. */
#define CURVE_MAX ((size_t)64)

static const char *const left_out[] = {"spec", "cases", "machines", "elapsed"};

static json_t *without_evidence(const json_t *verdicts)
{
    json_t *out = json_array(), *verdict;
    size_t i;

    json_array_foreach (verdicts, i, verdict) {
        verdict = json_copy(verdict);
        json_object_del(verdict, "evidence");
        json_array_append_new(out, verdict);
    }
    return out;
}

/* Keep the first point, the last, and every n-th between them. */
static void thin_curve(json_t *run)
{
    json_t *summary = json_object_get(run, "summary");
    const json_t *curve = json_object_get(summary, "curve");
    size_t n = json_array_size(curve);
    json_t *thin;

    if (n <= CURVE_MAX)
        return;
    thin = json_array();
    for (size_t i = 0; i < CURVE_MAX; i++)
        json_array_append(thin, json_array_get(curve, i * (n - 1) / (CURVE_MAX - 1)));
    summary = json_copy(summary);
    json_object_set_new(summary, "curve", thin);
    json_object_set_new(run, "summary", summary);
}

json_t *run_listed(const json_t *doc)
{
    json_t *run = json_copy((json_t *)(uintptr_t)doc);

    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        json_object_del(run, left_out[i]);
    thin_curve(run);
    json_object_set_new(run, "verdicts",
                        without_evidence(json_object_get(run, "verdicts")));
    return run;
}
