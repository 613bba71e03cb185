/* lookup.c - a run's document, from the scheduler's memory or from the store */
#include "server/api/lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/parked.h"

struct lookup {
    struct parked *parked;
    lookup_found *found;
    json_t *run; /* until the store has what it shows */
    char id[64];
};

static struct lookup *lookup_create(struct api *api, struct http_request *request,
                                    const char *id, lookup_found *found)
{
    struct lookup *lookup = memory_zeroed(1, sizeof(*lookup), "a request");

    snprintf(lookup->id, sizeof(lookup->id), "%s", id);
    lookup->found = found;
    lookup->parked = parked_create(api, request);
    return lookup;
}

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

/* run: as it is in memory (stolen), or NULL. */
static void look_up(struct api *api, struct http_request *request, const char *id,
                    json_t *run, lookup_found *found)
{
    struct lookup *lookup;

    if (run) {
        found(api, request, run);
        json_decref(run);
        return;
    }
    lookup = lookup_create(api, request, id, found);
    store_read_run(api->store, lookup->id, on_read, lookup);
}

void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found)
{
    look_up(api, request, id, scheduler_run_json(api->scheduler, id), found);
}

void lookup_outline(struct api *api, struct http_request *request, const char *id,
                    lookup_found *found)
{
    look_up(api, request, id, scheduler_run_outline(api->scheduler, id), found);
}

void lookup_id(struct api *api, struct http_request *request, const char *id,
               lookup_found *found)
{
    bool is_active = scheduler_run_is_active(api->scheduler, id);

    look_up(api, request, id, is_active ? json_pack("{s:s}", "id", id) : NULL, found);
}

static void on_settled(void *arg, const struct error *err)
{
    struct lookup *lookup = arg;

    on_read(lookup, err, lookup->run);
}

void lookup_settle(struct api *api, struct http_request *request, json_t *run,
                   lookup_found *found)
{
    const char *id = json_get_str(run, "id", "");
    struct lookup *lookup = lookup_create(api, request, id, found);

    lookup->run = json_incref(run);
    store_settle(api->store, on_settled, lookup);
}
