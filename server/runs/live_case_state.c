/* live_case_state.c - the memory of a case under way */
#include "server/runs/live_case_state.h"

#include <stdlib.h>

#include "server/analysis/transport.h"
#include "server/rendezvous/rendezvous.h"
#include "server/runs/active_run.h"
#include "server/runs/run.h"
#include "server/runs/run_nodes.h"

struct live_case *live_case_create(struct active_run *active, size_t index,
                                   int64_t now_ns)
{
    const struct run *run = active->run;
    struct live_case *live = calloc(1, sizeof(*live));

    if (!live)
        return NULL;
    live->active = active;
    live->index = index;
    live->on = run_case_nodes(run, &run->cases[index]);
    live->ranks = calloc((size_t)live->on.world_size, sizeof(*live->ranks));
    live->nodes = calloc(live->on.n, sizeof(*live->nodes));
    if (!live->ranks || !live->nodes) {
        free(live->ranks);
        free(live->nodes);
        free(live);
        return NULL;
    }
    live->failed_first = -1;
    live->changed_ns = now_ns;
    LIST_INSERT_HEAD(&active->live, live, entry);
    return live;
}

void live_case_free(struct live_case *live)
{
    if (!live)
        return;
    LIST_REMOVE(live, entry);
    if (live->store)
        rendezvous_store_close(live->store);
    for (int i = 0; live->ranks && i < live->on.world_size; i++) {
        free(live->ranks[i].reason);
        json_decref(live->ranks[i].process);
    }
    free(live->ranks);
    free(live->nodes);
    free(live->end_reason);
    json_decref(live->lost);
    json_decref(live->unreached);
    json_decref(live->ras);
    json_decref(live->early_logs);
    transport_destroy(live->transport);
    json_decref(live->blamed);
    free(live);
}
