/* reserve.c - nodes that are kept for a run */
#include "server/runs/reserve.h"

#include "server/nodes/node.h"
#include "server/nodes/placement.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/scheduler_state.h"

void reserve_chosen(const struct scheduler *scheduler, const struct placement *placement,
                    bool *reserved)
{
    for (size_t i = 0; i < placement->n_nodes; i++)
        reserved[node_index(&scheduler->nodes, placement->nodes[i]->name)] = true;
}

void reserve_placed(const struct scheduler *scheduler, const struct active_run *active,
                    bool *reserved)
{
    const struct run *run = active->run;

    for (size_t i = 0; i < run->n_nodes && !run->spec->share; i++)
        reserved[node_index(&scheduler->nodes, run->nodes[i].name)] = true;
}
