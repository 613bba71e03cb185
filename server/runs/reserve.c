/* reserve.c - one look at the queue: nodes that are kept for a run */
#include "server/runs/reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "server/nodes/node.h"
#include "server/runs/run.h"

static struct reservation *place_of(const struct reserve *reserve, const char *node)
{
    return &reserve->nodes[node_index(reserve->registry, node)];
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

void reserve_begin(struct reserve *reserve, const struct node_registry *registry)
{
    memset(reserve, 0, sizeof(*reserve));
    reserve->registry = registry;
    /* The last is for nodes that are not registered (yet). */
    reserve->nodes =
        memory_zeroed(registry->count + 1, sizeof(*reserve->nodes), "reserved nodes");
}

void reserve_pool(struct reserve *reserve, const struct run *run)
{
    static const struct reservation placed = {.is_kept = true};

    for (size_t i = 0; i < run->pool.n && !run->spec->share; i++)
        keep(reserve, run->pool.items[i].name, &placed);
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
    placement_choose(spec, reserve->registry, reserve->nodes, placement);
    if (is_waiting(placement))
        note_refusal(reserve, refusal, spec, placement);
}

void reserve_keep(struct reserve *reserve, const struct run *run, int64_t waits_until_ms,
                  const struct placement *placement)
{
    struct reservation reservation = {
        .is_kept = true,
        .run = is_waiting(placement) ? run->id : NULL,
        .least = placement->least,
        .until_ms = waits_until_ms,
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
