/* reserve.c - nodes that are kept for a run */
#include "server/runs/reserve.h"

#include "server/nodes/node.h"
#include "server/nodes/placement.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"

void reserve_chosen(const struct active_run *active, const struct placement *placement,
                    struct reservation *reserved)
{
    bool waits =
        placement->outcome == PLACEMENT_BUSY || placement->outcome == PLACEMENT_UNKNOWN;

    for (size_t i = 0; i < placement->n_nodes; i++) {
        struct reservation *reservation =
            &reserved[node_index(&active->scheduler->nodes, placement->nodes[i]->name)];

        if (reservation->is_kept)
            continue;
        reservation->is_kept = true;
        reservation->run = waits ? active->run->id : NULL;
        reservation->least = placement->least;
        reservation->until_ms = active->waits_until_ms;
    }
}

void reserve_placed(const struct active_run *active, struct reservation *reserved)
{
    const struct run *run = active->run;

    for (size_t i = 0; i < run->pool.n && !run->spec->share; i++)
        reserved[node_index(&active->scheduler->nodes, run->pool.items[i].name)].is_kept =
            true;
}
