/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - finds a run's document in the scheduler's memory or in the store */
#include "server/api/lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/api/parked.h"
#include "server/store/run_packed.h"
#include "server/store/store_work.h"

struct lookup {
    struct parked *parked;
    lookup_found *found;
    json_t *run; /* the scheduler's document; NULL: read_run() reads it from the store */
    char id[64];
};

static void on_found(void *arg, const struct error *err)
{
    struct lookup *lookup = arg;
    struct api *api = lookup->parked->api;
    struct http_request *request = parked_take(lookup->parked);

    if (request && err && err->code == ERROR_NOT_FOUND)
        http_reply_problem(request, 404, NULL, "there is no run %s", lookup->id);
    else if (request && err)
        http_reply_error(request, err);
    else if (request)
        lookup->found(api, request, lookup->run);
    json_decref(lookup->run);
    free(lookup);
}

/* Runs on a thread of the store. */
static int read_run(sqlite3 *db, void *arg, struct error *err)
{
    struct lookup *lookup = arg;

    lookup->run =
        lookup->run ? run_unpack(lookup->run) : store_get_run(db, lookup->id, err);
    return lookup->run ? 0 : -1;
}

void lookup_run(struct api *api, struct http_request *request, const char *id,
                lookup_found *found)
{
    struct lookup *lookup = memory_zeroed(1, sizeof(*lookup), "a request");

    snprintf(lookup->id, sizeof(lookup->id), "%s", id);
    lookup->found = found;
    lookup->parked = parked_create(api, request);
    lookup->run = scheduler_run_packed(api->scheduler, id);
    store_do_on(api->store, STORE_KEYED, read_run, on_found, lookup);
}

void lookup_id(struct api *api, struct http_request *request, const char *id,
               lookup_found *found)
{
    json_t *run = json_pack("{s:s}", "id", id);

    if (scheduler_run_is_active(api->scheduler, id))
        found(api, request, run);
    else
        lookup_run(api, request, id, found);
    json_decref(run);
}
