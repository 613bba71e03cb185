/* baseline_find.c - what a run is to be held against */
#include "server/api/baseline_find.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/ids.h"

struct finding {
    struct api *api;
    struct store_base_query query; /* its run is this one */
    char run[ID_RUN_LENGTH + 1];
    store_read_done *found;
    void *arg;
};

static void on_ready(void *arg, const struct error *err)
{
    struct finding *finding = arg;

    if (err)
        finding->found(finding->arg, err, NULL);
    else
        store_read_base(finding->api->store, &finding->query, finding->found,
                        finding->arg);
    free(finding);
}

void baseline_find(struct api *api, const struct store_base_query *query,
                   store_read_done *found, void *arg)
{
    static const struct error out_of_memory = {ERROR_MEMORY, "out of memory"};
    struct finding *finding = calloc(1, sizeof(*finding));

    if (!finding) {
        found(arg, &out_of_memory, NULL);
        return;
    }
    finding->api = api;
    finding->query = *query;
    snprintf(finding->run, sizeof(finding->run), "%s", query->run);
    finding->query.run = finding->run;
    finding->found = found;
    finding->arg = arg;
    scheduler_await_values(api->scheduler, query->base ? query->base : finding->run,
                           on_ready, finding);
}
