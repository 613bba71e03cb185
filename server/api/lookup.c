/* lookup.c - a run's document, from the scheduler's memory or from the store */
#include "server/api/lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/api/parked.h"

struct lookup {
    struct parked *parked;
    lookup_found *found;
    char id[64];
};

static void on_read(void *arg, const struct error *err, json_t *run)
{
    struct lookup *lookup = arg;
    struct api *api = lookup->parked->api;
    struct http_request *request = parked_take(lookup->parked);

    if (request && err && err->code == ERROR_NOT_FOUND)
        http_reply_problem(request, 404, NULL, "there is no run %s", lookup->id);
    else if (request && err)
        http_reply_error(request, err);
    else if (request)
        lookup->found(api, request, run);
    json_decref(run);
    free(lookup);
}

void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found)
{
    json_t *run = scheduler_run_json(api->scheduler, id, false);
    struct lookup *lookup;

    if (run) {
        found(api, request, run);
        json_decref(run);
        return;
    }
    lookup = calloc(1, sizeof(*lookup));
    if (!lookup) {
        http_reply_problem(request, 503, NULL, "out of memory");
        return;
    }
    snprintf(lookup->id, sizeof(lookup->id), "%s", id);
    lookup->found = found;
    lookup->parked = parked_create(api, request);
    if (!lookup->parked) {
        free(lookup);
        return;
    }
    store_read_run(api->store, lookup->id, on_read, lookup);
}
