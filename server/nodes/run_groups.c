/* SPDX-License-Identifier: Apache-2.0 */
/* run_groups.c - derives the communicators that a run's ranks form */
#include "server/nodes/run_groups.h"

#include <stdlib.h>

#include "common/base/memory.h"

void run_groups_form(const struct run_spec *spec, const long *ranks, size_t n_nodes,
                     struct split_groups *out)
{
    int *node_of, *local_rank, n = 0;

    for (size_t i = 0; i < n_nodes; i++)
        n += (int)ranks[i];
    node_of = memory_zeroed((size_t)n + 1, sizeof(*node_of), "groups of ranks");
    local_rank = memory_zeroed((size_t)n + 1, sizeof(*local_rank), "groups of ranks");
    n = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        for (int k = 0; k < ranks[i]; k++) {
            node_of[n] = (int)i;
            local_rank[n++] = k;
        }
    }
    split_form(&spec->split, node_of, local_rank, n, out);
    free(node_of);
    free(local_rank);
}

void run_groups_plan(const struct run_spec *spec, const struct split_groups *groups,
                     struct series_plan *out)
{
    *out = run_spec_plan(spec);
    out->world_size = split_smallest(groups);
    out->n_groups = groups->n;
}

size_t run_groups_rows(const struct run_spec *spec, const struct split_groups *groups)
{
    struct series_plan plan;

    run_groups_plan(spec, groups, &plan);
    /* The number of figures that a program will print is unknown. */
    return spec->program.name ? 0 : series_rows(&plan);
}
