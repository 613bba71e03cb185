/* SPDX-License-Identifier: Apache-2.0 */
/* live_case_state.c - allocates and frees a case under way */
#include "server/runs/live_case_state.h"

#include <stdlib.h>

#include "common/base/memory.h"
#include "server/analysis/transport.h"
#include "server/rendezvous/rendezvous.h"
#include "server/runs/run.h"
#include "server/runs/run_log.h"
#include "server/runs/run_nodes.h"

struct live_case *live_case_create(struct cases *cases, struct run_log *log, size_t index)
{
    const struct run *run = run_log_run(log);
    struct live_case *live = memory_zeroed(1, sizeof(*live), "a case");

    live->cases = cases;
    live->log = log;
    live->run = run;
    live->index = index;
    live->on = run_case_nodes(run, &run->cases[index]);
    live->ranks = memory_zeroed((size_t)live->on.world_size + 1, sizeof(*live->ranks),
                                "ranks of a case");
    live->nodes = memory_zeroed(live->on.n + 1, sizeof(*live->nodes), "nodes of a case");
    live->failed_first = -1;
    live->changed_ns = clock_read(cases->services->clock).monotonic_ns;
    LIST_INSERT_HEAD(&cases->live, live, entry);
    return live;
}

void live_case_free(struct live_case *live)
{
    if (!live)
        return;
    LIST_REMOVE(live, entry);
    if (live->store)
        rendezvous_store_close(live->store);
    for (int i = 0; i < live->on.world_size; i++) {
        free(live->ranks[i].reason);
        json_decref(live->ranks[i].process);
    }
    free(live->ranks);
    free(live->nodes);
    free(live->end_reason);
    json_decref(live->lost);
    json_decref(live->unreached);
    json_decref(live->early_logs);
    transport_destroy(live->transport);
    json_decref(live->blamed);
    free(live);
}
