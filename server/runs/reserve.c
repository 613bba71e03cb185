/* reserve.c - one look at the queue: nodes that are kept for a run */
#include "server/runs/reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/nodes/node.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"

static struct reservation *place_of(const struct reserve *reserve, const char *node)
{
    return &reserve->nodes[node_index(&reserve->scheduler->nodes, node)];
}

static void keep(struct reserve *reserve, const char *node,
                 const struct reservation *reservation)
{
    struct reservation *place = place_of(reserve, node);

    if (place->is_kept)
        return;
    *place = *reservation;
    reserve->n_kept++;
}

void reserve_begin(struct reserve *reserve, const struct scheduler *scheduler)
{
    static const struct reservation placed = {.is_kept = true};

    memset(reserve, 0, sizeof(*reserve));
    reserve->scheduler = scheduler;
    /* The last is for nodes that are not registered (yet). */
    reserve->nodes = memory_zeroed(scheduler->nodes.count + 1, sizeof(*reserve->nodes),
                                   "reserved nodes");
    for (size_t i = 0; i < scheduler->n_runs; i++) {
        const struct run *run = scheduler->runs[i]->run;

        if (active_run_is_over(scheduler->runs[i]) || run->spec->share)
            continue;
        for (size_t k = 0; k < run->pool.n; k++)
            keep(reserve, run->pool.items[k].name, &placed);
    }
}

static struct reserve_refusal *find_refusal(const struct reserve *reserve,
                                            const struct run_spec *spec)
{
    for (size_t i = 0; i < reserve->n_refusals; i++)
        if (placement_is_alike(reserve->refusals[i].spec, spec))
            return &reserve->refusals[i];
    return NULL;
}

static void note_refusal(struct reserve *reserve, struct reserve_refusal *refusal,
                         const struct run_spec *spec, const struct placement *placement)
{
    if (!refusal) {
        reserve->refusals =
            memory_grown(reserve->refusals, reserve->n_refusals, &reserve->capacity,
                         sizeof(*reserve->refusals), "refusals");
        refusal = &reserve->refusals[reserve->n_refusals++];
        refusal->reason = NULL;
    }
    free(refusal->reason);
    *refusal =
        (struct reserve_refusal){spec, reserve->n_kept, placement->outcome,
                                 memory_text(placement->reason, "a refusal's reason")};
}

static void repeat_refusal(const struct reserve_refusal *refusal,
                           struct placement *placement)
{
    memset(placement, 0, sizeof(*placement));
    placement->outcome = refusal->outcome;
    snprintf(placement->reason, sizeof(placement->reason), "%s", refusal->reason);
}

static bool is_waiting(const struct placement *placement)
{
    return placement->outcome == PLACEMENT_BUSY ||
           placement->outcome == PLACEMENT_UNKNOWN;
}

void reserve_choose(struct reserve *reserve, const struct run_spec *spec,
                    struct placement *placement)
{
    struct reserve_refusal *refusal = find_refusal(reserve, spec);

    if (refusal && refusal->n_kept == reserve->n_kept) {
        repeat_refusal(refusal, placement);
        return;
    }
    placement_choose(spec, &reserve->scheduler->nodes, reserve->nodes, placement);
    if (is_waiting(placement))
        note_refusal(reserve, refusal, spec, placement);
}

void reserve_keep(struct reserve *reserve, const struct active_run *active,
                  const struct placement *placement)
{
    struct reservation reservation = {
        .is_kept = true,
        .run = is_waiting(placement) ? active->run->id : NULL,
        .least = placement->least,
        .until_ms = active->waits_until_ms,
    };

    for (size_t i = 0; i < placement->n_nodes; i++)
        keep(reserve, placement->nodes[i]->name, &reservation);
}

void reserve_end(struct reserve *reserve)
{
    for (size_t i = 0; i < reserve->n_refusals; i++)
        free(reserve->refusals[i].reason);
    free(reserve->refusals);
    free(reserve->nodes);
}
