/* run_listed.c - a run as a list of runs shows it */
#include "server/store/run_listed.h"

#include <stdint.h>

/* A list draws the curve with a few dozen pixels; a run may have thousands of sizes. */
#define CURVE_MAX ((size_t)64)

static const char *const left_out[] = {"spec",      "cases",   "machines",
                                       "preflight", "ceiling", "lateness",
                                       "traffic",   "hang",    "elapsed"};

json_t *verdict_brief(const json_t *verdict)
{
    return json_pack("{s:O?, s:O?, s:O?}", "kind", json_object_get(verdict, "kind"),
                     "answer", json_object_get(verdict, "answer"), "sentence",
                     json_object_get(verdict, "sentence"));
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

static void shorten(json_t *run, const char *name)
{
    const json_t *verdict = json_object_get(run, name);

    if (verdict)
        json_object_set_new(run, name, verdict_brief(verdict));
}

json_t *run_listed(const json_t *doc)
{
    json_t *run = json_copy((json_t *)(uintptr_t)doc);

    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
        json_object_del(run, left_out[i]);
    thin_curve(run);
    shorten(run, "culprit");
    shorten(run, "verdict");
    return run;
}
