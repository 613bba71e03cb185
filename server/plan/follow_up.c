/* SPDX-License-Identifier: Apache-2.0 */
/* follow_up.c - builds the spec of a run that finds the slow node of an earlier run */
#include "server/plan/follow_up.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/run_spec.h"
#include "server/analysis/culprit_model.h"
#include "server/analysis/gate.h"
#include "server/finding/verdict.h"

/* Members of the run's spec that affect its figures. The follow-up uses defaults for all
 * other members. */
static const char *const kept[] = {"labels",  "iters",    "warmup",         "env",
                                   "nccl",    "nccl_lib", "ranks_per_node", "bind",
                                   "devices", "share",    "launch"};

_Static_assert(FOLLOW_UP_NODES_MIN == CULPRIT_NODES_MIN,
               "with fewer nodes, no slow node can be named");

bool follow_up_fits(const json_t *run)
{
    const json_t *spec = json_object_get(run, "spec");

    return strcmp(json_get_str(spec, "pattern", ""), "all") == 0 &&
           json_array_size(json_object_get(spec, "collectives")) > 0 &&
           !json_object_get(run, "imported");
}

/* ---- The reason ---- */

const json_t *follow_up_reason(const json_t *verdicts)
{
    json_t *verdict;
    size_t i;

    json_array_foreach (verdicts, i, verdict)
        if (verdict_says_slow(verdict))
            return verdict;
    return gate_failed(verdicts_find(verdicts, VERDICT_GATE));
}

static json_t *why(const json_t *run)
{
    const json_t *reason = follow_up_reason(json_object_get(run, "verdicts"));

    return reason ? json_incref(json_object_get(reason, "sentence")) : json_null();
}

/* ---- The spec ---- */

/* Select the same nodes. If a launcher started them, select only the same number of
 * nodes, because the launcher's job ends soon after the run. */
static json_t *nodes_of(const json_t *spec, const json_t *nodes)
{
    json_t *names = json_array(), *node;
    size_t i;

    json_array_foreach (nodes, i, node)
        json_array_append(names, json_object_get(node, "name"));
    if (!json_object_get(spec, "launch"))
        return json_pack("{s:o}", "names", names);
    json_decref(names);
    return json_pack("{s:I, s:O*}", "count", (json_int_t)json_array_size(nodes), "wait_s",
                     json_object_get(json_object_get(spec, "nodes"), "wait_s"));
}

/* Return the size of the run's headline, or else the largest size in its spec. */
static json_int_t size_of(const json_t *run, const json_t *spec)
{
    const json_t *headline = json_object_get(json_object_get(run, "summary"), "headline");
    json_int_t size = json_get_int(headline, "size", 0);
    const json_t *asked;
    size_t i;

    if (size > 0)
        return size;
    json_array_foreach (json_object_get(spec, "sizes"), i, asked)
        if (json_integer_value(asked) > size)
            size = json_integer_value(asked);
    return size;
}

static void keep(json_t *out, const json_t *spec)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *value = json_object_get(spec, kept[i]);

        if (value && !json_is_null(value) &&
            !(json_is_object(value) && json_object_size(value) == 0))
            json_object_set(out, kept[i], value);
    }
}

/* Return a spec that compares pairs in a single series with a single size. */
static json_t *spec_of(const json_t *run, const json_t *spec, const json_t *nodes)
{
    static const char *const firsts[] = {"collectives", "dtypes", "redops"};
    json_t *failed =
        gate_failed(verdicts_find(json_object_get(run, "verdicts"), VERDICT_GATE));
    json_t *out;
    char name[80];

    snprintf(name, sizeof(name), "slow node of %.40s", json_get_str(run, "id", ""));
    out = json_pack("{s:s, s:s, s:o, s:s, s:[I], s:b}", "name", name, "pattern",
                    run_pattern_name(PATTERN_PAIRS), "nodes", nodes_of(spec, nodes),
                    "backend", json_get_str(run, "backend", "auto"), "sizes",
                    size_of(run, spec), "in_place", 0);
    for (size_t i = 0; out && i < sizeof(firsts) / sizeof(firsts[0]); i++)
        json_object_set_new(
            out, firsts[i],
            json_pack("[O]", json_array_get(json_object_get(spec, firsts[i]), 0)));
    if (out)
        keep(out, spec);
    if (failed)
        json_object_set(out, "slow_together", json_object_get(failed, "sentence"));
    return out;
}

json_t *follow_up_of(const json_t *run)
{
    const json_t *nodes = json_object_get(run, "nodes");

    if (!json_is_string(json_object_get(run, "ended")) ||
        json_array_size(nodes) < FOLLOW_UP_NODES_MIN || !follow_up_fits(run) ||
        size_of(run, json_object_get(run, "spec")) <= 0)
        return NULL;
    return json_pack("{s:s, s:o, s:o}", "title", "Find the slow node", "why", why(run),
                     "spec", spec_of(run, json_object_get(run, "spec"), nodes));
}
