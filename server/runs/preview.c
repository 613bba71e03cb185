/* preview.c - what would become of a run if it were posted now */
#include "server/runs/preview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/run_matrix.h"
#include "server/nodes/placement.h"
#include "server/nodes/run_groups.h"
#include "server/plan/plan.h"
#include "server/runs/run.h"
#include "server/runs/run_plan.h"

static const char *const outcomes[] = {
    [PLACEMENT_READY] = "ready",
    [PLACEMENT_BUSY] = "busy",
    [PLACEMENT_UNKNOWN] = "unknown",
    [PLACEMENT_IMPOSSIBLE] = "impossible",
};

static json_t *nodes_json(const struct placement *placement, bool has_nodes,
                          int *world_size)
{
    json_t *nodes = json_array();

    *world_size = 0;
    for (size_t i = 0; has_nodes && i < placement->n_nodes; i++) {
        json_array_append_new(nodes,
                              json_pack("{s:s, s:i}", "name", placement->nodes[i]->name,
                                        "ranks", (int)placement->ranks[i]));
        *world_size += (int)placement->ranks[i];
    }
    return nodes;
}

static json_t *sizes_json(const struct run_spec *spec)
{
    uint64_t min = UINT64_MAX, max = 0;

    if (spec->program.name || spec->n_sizes == 0)
        return json_null();
    for (size_t i = 0; i < spec->n_sizes; i++) {
        min = spec->sizes[i] < min ? spec->sizes[i] : min;
        max = spec->sizes[i] > max ? spec->sizes[i] : max;
    }
    return json_pack("{s:I, s:I, s:I}", "count", (json_int_t)spec->n_sizes, "min",
                     (json_int_t)min, "max", (json_int_t)max);
}

/* Two buffers of the largest row: what every worker allocates. */
static json_t *memory_json(const struct series_plan *plan, const char *backend)
{
    uint64_t most = 0;
    struct collective_layout layout;

    for (size_t i = 0; i < plan->n_collectives; i++) {
        for (size_t k = 0; k < plan->n_sizes * plan->n_dtypes; k++) {
            collective_layout(plan->collectives[i], plan->sizes[k / plan->n_dtypes],
                              plan->dtypes[k % plan->n_dtypes], plan->world_size,
                              &layout);
            most = layout.size_bytes > most ? layout.size_bytes : most;
        }
    }
    return json_pack("{s:I, s:s}", "per_rank_bytes", 2 * (json_int_t)most, "where",
                     strcmp(backend, "nccl") == 0  ? "gpu"
                     : strcmp(backend, "sim") == 0 ? "none"
                                                   : "host");
}

/* What only a run on these nodes has: rows and memory. */
static void add_cost(const struct run_spec *spec, const struct placement *placement,
                     json_t *answer)
{
    struct plan_size size = plan_size(spec, placement->n_nodes);
    struct split_groups groups = {0};
    struct series_plan plan;

    run_groups_form(spec, placement->ranks, size.largest, &groups);
    if (!spec->program.name) {
        run_groups_plan(spec, &groups, &plan);
        json_object_set_new(answer, "rows",
                            json_integer((json_int_t)run_plan_rows(spec, placement->ranks,
                                                                   placement->n_nodes)));
        json_object_set_new(answer, "memory", memory_json(&plan, placement->backend));
        if (plan.n_sizes > 0)
            json_object_set_new(
                answer, "series",
                json_integer((json_int_t)(series_rows(&plan) / plan.n_sizes /
                                          (size_t)(plan.cycles > 1 ? plan.cycles : 1))));
    }
    split_release(&groups);
}

/* A run that would queue gets the nodes that are its own once nobody else uses them, as
 * far as that can be said; *placement becomes that, or why it could not be. */
static void look_behind_queue(const struct node_registry *nodes,
                              const struct run_spec *spec, struct placement *placement)
{
    struct placement later;

    placement_choose(spec, nodes, NULL, &later);
    if (later.outcome == PLACEMENT_READY) {
        later.outcome = PLACEMENT_BUSY;
        memcpy(later.reason, placement->reason, sizeof(later.reason));
    }
    placement_release(placement);
    *placement = later;
}

/* Nodes that an engine has yet to give are none of those here. */
static void place_launched(const struct run_spec *spec, struct placement *placement)
{
    memset(placement, 0, sizeof(*placement));
    placement->outcome = PLACEMENT_UNKNOWN;
    snprintf(placement->reason, sizeof(placement->reason), "%s is asked for them",
             spec->launch.name);
}

bool preview_plan_fits(const struct node_registry *nodes, const struct run_spec *spec,
                       struct problems *problems)
{
    size_t n = spec->nodes.names ? json_array_size(spec->nodes.names)
                                 : (size_t)spec->nodes.count;
    struct placement placement;
    char why[200];

    if (spec->pattern == PATTERN_ALL || (n == 0 && spec->launch.name))
        return true;
    if (n == 0) {
        placement_choose(spec, nodes, NULL, &placement);
        n = placement.n_nodes;
        placement_release(&placement);
        /* Others may come while it waits. */
        if (n < plan_least_nodes(spec->pattern))
            return true;
    }
    if (plan_fits(spec, n, why, sizeof(why)))
        return true;
    problems_add(problems, spec->rounds ? "/rounds" : "/pattern", "%s", why);
    return false;
}

json_t *preview(const struct node_registry *registry, const struct run_spec *spec,
                const struct placement *chosen)
{
    struct placement placement;
    json_t *answer, *nodes;
    bool is_ready, has_nodes;
    int world_size;
    size_t count;

    if (chosen)
        placement = *chosen;
    else
        place_launched(spec, &placement);
    if (placement.outcome == PLACEMENT_BUSY)
        look_behind_queue(registry, spec, &placement);
    is_ready = placement.outcome == PLACEMENT_READY;
    has_nodes = is_ready || placement.outcome == PLACEMENT_BUSY;
    nodes = nodes_json(&placement, has_nodes, &world_size);
    /* What it asks for, as long as it has none. */
    count = has_nodes           ? placement.n_nodes
            : spec->nodes.names ? json_array_size(spec->nodes.names)
                                : (size_t)spec->nodes.count;
    answer = json_pack(
        "{s:o, s:I, s:n, s:n, s:o, s:{s:s, s:s?, s:s?, s:i, s:o}, s:n, s:{s:n, s:s, "
        "s:[], "
        "s:s}}",
        "spec", run_spec_to_json(spec), "cases", (json_int_t)plan_cases(spec, count),
        "rows", "series", "sizes", sizes_json(spec), "placement", "outcome",
        outcomes[placement.outcome], "reason", is_ready ? NULL : placement.reason,
        "backend", has_nodes ? placement.backend : NULL, "world_size", world_size,
        "nodes", nodes, "memory", "time", "seconds", "basis", "none", "runs", "detail",
        "nothing is known of a run without nodes");
    if (answer && has_nodes)
        add_cost(spec, &placement, answer);
    placement_release(&placement);
    return answer;
}
